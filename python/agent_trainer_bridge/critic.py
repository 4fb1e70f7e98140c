"""How a critic learns, as data; formulas are in docs/algorithms.md. Knows no tensors."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

from .errors import BadRequest


@dataclass(frozen=True)
class ValueTargets:
    """What a row teaches a critic; entry i speaks of the tokens before token i."""

    values: array[float]
    """Before the update."""
    returns: array[float]
    factor: float
    """`Row.factor` of the value loss."""


@dataclass(frozen=True)
class CriticUpdate:
    """`CriticSpec` of src/core/loss/value-loss.ts."""

    learning_rate: float
    clip: float | None
    epochs: int
    """Optimizer steps, each on all rows."""
    is_warmup: bool
    """Only the critic learns."""


def check_critic(critic: CriticUpdate) -> None:
    """Raises BadRequest for a number out of bounds."""
    rate, clip, epochs = critic.learning_rate, critic.clip, critic.epochs
    bounds = [
        ("learning_rate", rate, isinstance(rate, (int, float)) and math.isfinite(rate) and rate >= 0, "at least 0"),
        ("clip", clip, clip is None or (isinstance(clip, (int, float)) and clip > 0), "above 0"),
        ("epochs", epochs, type(epochs) is int and 1 <= epochs <= 1000, "a whole number from 1 to 1000"),
        ("is_warmup", critic.is_warmup, isinstance(critic.is_warmup, bool), "true or false"),
    ]
    for name, value, is_within, bound in bounds:
        if not is_within:
            raise BadRequest(f"{name} of the critic must be {bound}, but it is {value!r}.")
