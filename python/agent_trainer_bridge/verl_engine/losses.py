"""agent-trainer's losses as verl's, and its factors as the weights that verl multiplies by.

verl adds token losses up in its own way, so each token's weight undoes that: what remains is the plain
sum of loss times factor. Pure; knows no tensors.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from ..engine import Loss
from ..errors import UnsupportedError
from ..rows import Row

_NEVER = 1e9
"""A bound that no ratio reaches: verl limits log-ratios to 20."""


@dataclass(frozen=True)
class ActorLoss:
    """Fields of verl's ActorConfig."""

    loss_mode: str
    clip_ratio_low: float
    clip_ratio_high: float
    clip_ratio_c: float

    @property
    def is_mean_of_rows(self) -> bool:
        """verl adds up `gspo` as seq-mean-token-mean whatever it is told; the others as token-mean."""
        return self.loss_mode == "gspo"


def actor_loss(loss: Loss) -> ActorLoss:
    """Raises UnsupportedError for a loss without a counterpart of the same value and gradient."""
    dual = _NEVER if loss.dual_clip is None else loss.dual_clip
    if loss.name == "ppo":
        return ActorLoss("vanilla", loss.clip_low, loss.clip_high, dual)
    if loss.name == "importance_sampling":
        return ActorLoss("vanilla", 1.0, _NEVER, _NEVER)
    if loss.name in ("cispo", "gspo"):
        return ActorLoss(loss.name, loss.clip_low, loss.clip_high, _NEVER)
    raise UnsupportedError(f"verl has no loss that equals {loss.name!r}. Use ppo, importance_sampling, cispo or gspo.")


def token_weights(rows: Sequence[Row], loss: ActorLoss) -> list[array[float]]:
    """What undoes verl's mean over all trained tokens, or over rows and then their tokens."""
    counts = [row.target_count for row in rows]
    if loss.is_mean_of_rows:
        trained = sum(count > 0 for count in counts)
        divisors = [trained * count for count in counts]
    else:
        divisors = [sum(counts)] * len(rows)
    return [array("f", (factor * divisor for factor in row.factors)) for row, divisor in zip(rows, divisors)]
