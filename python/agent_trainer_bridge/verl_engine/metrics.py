"""verl's metrics by agent-trainer's names. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_OWN = {
    "loss",
    "grad_norm",
    "lr",
    "mfu",
    # Those of the objective.
    "clip_fraction",
    "kl_reference",
    "entropy",
    "sampled_nll",
    "kl_k1",
    "kl_k3",
    "logprob_abs_diff_mean",
    "ratio_mean",
    "ratio_max",
    "ratio_min",
}


def _reduce(name: str, value: Any) -> float:
    """Lists have an entry for each mini-batch, micro-batch or rank."""
    if isinstance(value, (list, tuple)):
        numbers = [_reduce(name, entry) for entry in value]
        if not numbers:
            return math.nan
        if "max" in name:
            return max(numbers)
        if "min" in name:
            return min(numbers)
        return sum(numbers) / len(numbers)
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def critic_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Means over the critic's steps. Its loss without factors is `value_loss`, so the one with them is dropped."""
    reduced = {name: _reduce(name, value) for name, value in metrics.items()}
    named = {name: reduced[name] for name in ("value_loss", "value_clip_fraction") if name in reduced}
    return {**named, "value_grad_norm": reduced["grad_norm"]}


def own_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Those that are numbers; what has no name of ours is kept under `verl/`."""
    reduced = {name: _reduce(name, value) for name, value in metrics.items()}
    squared = reduced.pop("ratio_squared", None)
    named = {name if name in _OWN else f"verl/{name}": value for name, value in reduced.items()}
    if squared is not None:
        named["chi2"] = squared - 1
        if squared > 0:
            named["ess_fraction"] = reduced["ratio_mean"] ** 2 / squared
    return named
