"""The learning rate of an engine of verl. Workers get this module by value."""

from __future__ import annotations

from typing import Any


def set_rate(engine: Any, learning_rate: float) -> None:
    for group in engine.optimizer.param_groups:
        group["lr"] = learning_rate
        group["initial_lr"] = learning_rate
    # It computes rates from these whenever it steps.
    engine.lr_scheduler.base_lrs = [learning_rate] * len(engine.lr_scheduler.base_lrs)
