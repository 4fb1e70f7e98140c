"""agent-trainer's losses in torch, one term for each token: the formulas of docs/algorithms.md.

All tensors are [rows, tokens]; only log-probabilities now carry a gradient. Workers get this module by
value, so it imports nothing but torch and what is sent along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..limits import LARGEST_K3, LARGEST_LOG_RATIO, LARGEST_ROW_LOG_RATIO, LEAST_WEIGHT

Terms = tuple[torch.Tensor, torch.Tensor | None]
"""The terms, and where a limit on the ratio was in force."""


class TokenInputs:
    """`numbers` are the fields of `Loss`."""

    def __init__(
        self,
        now: torch.Tensor,
        before: torch.Tensor,
        advantages: torch.Tensor,
        mask: torch.Tensor,
        weights: torch.Tensor,
        numbers: Mapping[str, Any],
    ) -> None:
        self.now = now
        self.before = before
        self.advantages = advantages
        self.mask = mask
        self.weights = weights
        self.numbers = numbers

    @property
    def bounds(self) -> tuple[float, float]:
        return 1 - self.numbers["eps_clip"], 1 + self.numbers["eps_clip_high"]

    @property
    def log_ratio(self) -> torch.Tensor:
        return limited_log_ratio(self.now, self.before)

    def row_mean(self, values: torch.Tensor) -> torch.Tensor:
        """Each token's mean over the trained tokens of its row."""
        total = torch.where(self.mask, values, 0).sum(1, keepdim=True)
        return (total / self.mask.sum(1, keepdim=True).clamp(min=1)).expand_as(values)


def limited_log_ratio(now: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """No gradient beyond the limits."""
    return (now - before).clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def _surrogate(ratio: torch.Tensor, inputs: TokenInputs) -> tuple[torch.Tensor, torch.Tensor]:
    plain = ratio * inputs.advantages
    limited = ratio.clamp(*inputs.bounds) * inputs.advantages
    return -torch.minimum(plain, limited), limited < plain


def importance_sampling(inputs: TokenInputs) -> Terms:
    return -inputs.log_ratio.exp() * inputs.advantages, None


def ppo(inputs: TokenInputs) -> Terms:
    terms, clipped = _surrogate(inputs.log_ratio.exp(), inputs)
    most = inputs.numbers["dual_clip"]
    if most is not None:
        bounded = torch.minimum(terms, -inputs.advantages * most)
        terms = torch.where(inputs.advantages < 0, bounded, terms)
    return terms, clipped


def cispo(inputs: TokenInputs) -> Terms:
    ratio = inputs.log_ratio.detach().exp()
    weight = ratio.clamp(*inputs.bounds)
    return -weight * inputs.advantages * inputs.now, weight != ratio


def gspo(inputs: TokenInputs) -> Terms:
    fixed = inputs.now.detach()
    of_row = inputs.row_mean(fixed - inputs.before)
    return _surrogate((inputs.now - fixed + of_row).clamp(max=LARGEST_ROW_LOG_RATIO).exp(), inputs)


def gmpo(inputs: TokenInputs) -> Terms:
    """Weights enter as their geometric mean, as in verl."""
    log_ratio = inputs.log_ratio
    sign = inputs.advantages.sign()
    plain = sign * log_ratio
    limited = sign * log_ratio.clamp(-inputs.numbers["eps_clip"], inputs.numbers["eps_clip_high"])
    ratio = inputs.row_mean(sign * torch.minimum(plain, limited)).exp()
    weight = inputs.row_mean((inputs.weights + LEAST_WEIGHT).log()).exp()
    return -inputs.row_mean(inputs.advantages) * ratio * weight, limited < plain


def sapo(inputs: TokenInputs) -> Terms:
    numbers = inputs.numbers
    positive = torch.full_like(inputs.now, numbers["sapo_tau_positive"])
    tau = torch.where(inputs.advantages > 0, positive, numbers["sapo_tau_negative"])
    gate = torch.sigmoid(tau * (inputs.log_ratio.exp() - 1)) * 4 / tau
    return -inputs.advantages * gate, None


def dro(inputs: TokenInputs) -> Terms:
    penalty = 0.5 * inputs.numbers["dro_beta"] * (inputs.now - inputs.before).square()
    return penalty - inputs.advantages * inputs.now, None


def cross_entropy(inputs: TokenInputs) -> Terms:
    return -inputs.now, None


TOKEN_LOSSES: dict[str, Callable[[TokenInputs], Terms]] = {
    "importance_sampling": importance_sampling,
    "ppo": ppo,
    "cispo": cispo,
    "gspo": gspo,
    "gmpo": gmpo,
    "sapo": sapo,
    "dro": dro,
    "cross_entropy": cross_entropy,
}

WEIGHTED = frozenset({"gmpo"})
"""Losses whose terms have their weights already."""


def kl_terms(estimator: str, now: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Estimates of KL(policy, reference): http://joschu.net/blog/kl-approx.html"""
    if estimator == "k1":
        return now - reference
    if estimator == "k2":
        return 0.5 * (now - reference).square()
    gap = (reference - now).clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
    return (gap.exp() - gap - 1).clamp(-LARGEST_K3, LARGEST_K3)
