"""verl's metrics by agent-trainer's names. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_OWN_NAMES = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "actor/ppo_kl": "kl_k1",
    "actor/pg_clipfrac": "clip_fraction",
    "actor/pg_clipfrac_lower": "dual_clip_fraction",
    "lr": "lr",
    "mfu": "mfu",
}


def _reduce(name: str, value: Any) -> float:
    """Lists have an entry for each micro-batch or rank."""
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


def own_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Those that are numbers; what has no name of ours is kept under `verl/`."""
    reduced = {name: _reduce(name, value) for name, value in metrics.items()}
    return {_OWN_NAMES.get(name, f"verl/{name}"): value for name, value in reduced.items()}
