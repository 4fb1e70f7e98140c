"""Limits of numbers, those of verl: an outlier must not turn a loss whose value is finite into NaN.

Workers get this module by value, so it imports nothing.
"""

LARGEST_LOG_RATIO = 20.0
"""Of a token's log-probability now and before; a ratio beyond it has no gradient."""
LARGEST_ROW_LOG_RATIO = 10.0
"""Of a row's mean, in gspo; from above only, as a small ratio harms nothing."""
LARGEST_K3 = 10.0
"""One outlier must not carry the batch: k3 grows with the exponential."""
LEAST_WEIGHT = 1e-10
"""Added to weights before their geometric mean in gmpo: a weight of 0 has a logarithm."""
