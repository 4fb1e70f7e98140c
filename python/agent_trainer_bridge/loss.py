"""agent-trainer's loss as data; formulas are in docs/algorithms.md. Knows no tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .errors import BadRequest


@dataclass(frozen=True)
class Loss:
    """`LossSpec` of src/core/loss/loss.ts. How tokens add up is in the rows' factors."""

    name: str = "ppo"
    eps_clip: float = 0.2
    eps_clip_high: float = 0.2
    dual_clip: float | None = None
    dro_beta: float = 0.05
    sapo_tau_positive: float = 1.0
    sapo_tau_negative: float = 1.05
    kl_coef: float | None = None
    """Of the distance to the reference; 0 measures it only, None does not know the reference."""
    kl_estimator: str = "k3"
    entropy_coef: float = 0.0


def check_loss(loss: Loss) -> None:
    """Raises BadRequest for a number out of bounds."""
    bounds = [
        ("eps_clip", loss.eps_clip, loss.eps_clip >= 0, "at least 0"),
        ("eps_clip_high", loss.eps_clip_high, loss.eps_clip_high >= 0, "at least 0"),
        ("dual_clip", loss.dual_clip, loss.dual_clip is None or loss.dual_clip > 1, "above 1"),
        ("dro_beta", loss.dro_beta, loss.dro_beta > 0, "above 0"),
        ("sapo_tau_positive", loss.sapo_tau_positive, loss.sapo_tau_positive > 0, "above 0"),
        ("sapo_tau_negative", loss.sapo_tau_negative, loss.sapo_tau_negative > 0, "above 0"),
        ("kl_coef", loss.kl_coef, loss.kl_coef is None or loss.kl_coef >= 0, "at least 0"),
        ("kl_estimator", loss.kl_estimator, loss.kl_estimator in ("k1", "k2", "k3"), "k1, k2 or k3"),
        ("entropy_coef", loss.entropy_coef, math.isfinite(loss.entropy_coef), "finite"),
    ]
    for name, value, is_within, bound in bounds:
        if not is_within:
            raise BadRequest(f"{name} of the loss must be {bound}, but it is {value!r}.")
