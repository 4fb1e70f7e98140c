"""Loss and gradient of the toy policy. Formulas: docs/algorithms.md. Knows no steps and no ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..engine import Loss
from ..errors import UnsupportedError
from ..rows import Row
from .policy import VOCABULARY, Logits, Policy


@dataclass
class Gradient:
    loss: float = 0.0
    tokens: int = 0
    gaps: float = 0.0
    """Sum of the distances between log-probabilities now and when sampled."""
    clipped: int = 0
    logits: Logits = field(default_factory=dict)

    def add(self, other: Gradient) -> None:
        self.loss += other.loss
        self.tokens += other.tokens
        self.gaps += other.gaps
        self.clipped += other.clipped
        for last, values in other.logits.items():
            own = self.logits.setdefault(last, [0.0] * VOCABULARY)
            for token, value in enumerate(values):
                own[token] += value

    @property
    def norm(self) -> float:
        return math.sqrt(sum(value * value for row in self.logits.values() for value in row))


def token_loss(loss: Loss, now: float, before: float, advantage: float) -> tuple[float, float]:
    """A token's loss and its derivative by the log-probability now."""
    ratio = math.exp(now - before)
    value, slope = -advantage * ratio, -advantage * ratio
    if loss.name == "importance_sampling":
        return value, slope
    if loss.name != "ppo":
        raise UnsupportedError(f"The fake engine has no loss {loss.name!r}. It has ppo and importance_sampling.")
    limited = -advantage * min(max(ratio, 1 - loss.clip_low), 1 + loss.clip_high)
    if limited > value:
        value, slope = limited, 0.0
    if loss.dual_clip is not None and advantage < 0 and value > -advantage * loss.dual_clip:
        value, slope = -advantage * loss.dual_clip, 0.0
    return value, slope


def gradient_of(policy: Policy, rows: Iterable[Row], loss: Loss) -> Gradient:
    total = Gradient()
    for row in rows:
        for at in range(1, len(row)):
            if row.target_mask[at] == 0:
                continue
            last, token = row.tokens[at - 1], row.tokens[at]
            logprobs = policy.logprobs(last)
            now = logprobs[token]
            value, slope = token_loss(loss, now, row.sampling_logprobs[at], row.advantages[at])
            total.loss += row.factors[at] * value
            total.tokens += 1
            total.gaps += abs(now - row.sampling_logprobs[at])
            total.clipped += slope == 0 and row.advantages[at] != 0
            own = total.logits.setdefault(last, [0.0] * VOCABULARY)
            scale = row.factors[at] * slope
            for other, logprob in enumerate(logprobs):
                own[other] -= scale * math.exp(logprob)
            own[token] += scale
    return total
