"""Loss and gradient of the toy policy. Formulas: docs/algorithms.md. Knows no steps and no ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_trainer_bridge.errors import UnsupportedError
from agent_trainer_bridge.limits import LARGEST_K3, LARGEST_LOG_RATIO
from agent_trainer_bridge.loss import Loss
from agent_trainer_bridge.rows import Row
from .policy import VOCABULARY, Logits, Policy


def _limited(log_ratio: float) -> float:
    return min(max(log_ratio, -LARGEST_LOG_RATIO), LARGEST_LOG_RATIO)


@dataclass
class Gradient:
    loss: float = 0.0
    tokens: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """Over tokens, of what is measured; means are by name of metric."""
    logits: Logits = field(default_factory=dict)

    def add(self, other: Gradient) -> None:
        self.loss += other.loss
        self.tokens += other.tokens
        for name, value in other.sums.items():
            self.measure(name, value)
        for last, values in other.logits.items():
            own = self.logits.setdefault(last, [0.0] * VOCABULARY)
            for token, value in enumerate(values):
                own[token] += value

    def measure(self, name: str, value: float) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value

    @property
    def means(self) -> dict[str, float]:
        return {name: value / max(1, self.tokens) for name, value in self.sums.items()}

    @property
    def norm(self) -> float:
        return math.sqrt(sum(value * value for row in self.logits.values() for value in row))


def token_loss(loss: Loss, now: float, before: float, advantage: float) -> tuple[float, float]:
    """A token's loss and its derivative by the log-probability now."""
    log_ratio = _limited(now - before)
    ratio = math.exp(log_ratio)
    value = -advantage * ratio
    slope = value if log_ratio == now - before else 0.0
    if loss.name == "importance_sampling":
        return value, slope
    if loss.name != "ppo":
        raise UnsupportedError(f"The fake engine has no loss {loss.name!r}. It has ppo and importance_sampling.")
    limited = -advantage * min(max(ratio, 1 - loss.eps_clip), 1 + loss.eps_clip_high)
    if limited > value:
        value, slope = limited, 0.0
    if loss.dual_clip is not None and advantage < 0 and value > -advantage * loss.dual_clip:
        value, slope = -advantage * loss.dual_clip, 0.0
    return value, slope


def token_kl(estimator: str, now: float, reference: float) -> tuple[float, float]:
    """An estimate of KL(policy, reference) and its derivative by the log-probability now."""
    gap = reference - now
    if estimator == "k1":
        return -gap, 1.0
    if estimator == "k2":
        return gap * gap / 2, -gap
    inner = _limited(gap)
    value = math.exp(inner) - inner - 1
    if value > LARGEST_K3:
        return LARGEST_K3, 0.0
    return value, 1 - math.exp(inner) if inner == gap else 0.0


def gradient_of(policy: Policy, rows: Iterable[Row], loss: Loss, reference: Policy) -> Gradient:
    total = Gradient()
    for row in rows:
        for at in range(1, len(row)):
            if row.target_mask[at] == 1:
                _add_token(total, row, at, policy.logprobs(row.tokens[at - 1], row.temperature), loss, reference)
    return total


def _add_token(total: Gradient, row: Row, at: int, logprobs: list[float], loss: Loss, reference: Policy) -> None:
    last, token = row.tokens[at - 1], row.tokens[at]
    now, before = logprobs[token], row.sampling_logprobs[at]
    value, slope = token_loss(loss, now, before, row.advantages[at])
    total.tokens += 1
    _measure_gap(total, now - before)
    total.measure("clip_fraction", float(slope == 0 and row.advantages[at] != 0))
    value, slope = value * row.weights[at], slope * row.weights[at]
    if loss.kl_coef is not None:
        distance, by_now = token_kl(loss.kl_estimator, now, reference.logprobs(last, row.temperature)[token])
        total.measure("kl_reference", distance)
        value, slope = value + loss.kl_coef * distance, slope + loss.kl_coef * by_now
    own = total.logits.setdefault(last, [0.0] * VOCABULARY)
    # By a logit, of which the policy knows a part of 1 / temperature.
    scale = row.factor * slope / row.temperature
    for other, logprob in enumerate(logprobs):
        own[other] -= scale * math.exp(logprob)
    own[token] += scale
    if loss.entropy_coef != 0:
        entropy = -sum(math.exp(logprob) * logprob for logprob in logprobs)
        total.measure("entropy", entropy)
        value -= loss.entropy_coef * entropy
        for other, logprob in enumerate(logprobs):
            by_logit = math.exp(logprob) * (logprob + entropy) / row.temperature
            own[other] += row.factor * loss.entropy_coef * by_logit
    total.loss += row.factor * value


def _measure_gap(total: Gradient, log_ratio: float) -> None:
    ratio = math.exp(_limited(log_ratio))
    total.measure("kl_k1", -log_ratio)
    total.measure("kl_k3", ratio - 1 - _limited(log_ratio))
    total.measure("logprob_abs_diff_mean", abs(log_ratio))
    total.measure("ratio_mean", ratio)
