"""verl's training worker as a critic, and the loss that it minimises. Workers get this module by value."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from verl.single_controller.base.decorator import Dispatch, register
from verl.workers.engine_workers import TrainingWorker

from .rates import set_rate
from .value_objective import value_objective

_HEADS = ("score", "classifier", "v_head")
"""Of transformers' token classifiers, and of trl."""


def with_zero_head(module: Any) -> Any:
    """The model with values of 0 until it has learned, on every machine: verl draws the head at random."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.split(".")[0] in _HEADS:
                parameter.zero_()
    return module


class CriticWorker(TrainingWorker):
    """Takes the learning rate and the clip of each update, which verl fixes when it starts."""

    def __init__(self, config: Any, has_new_head: bool) -> None:
        super().__init__(config)
        self._has_new_head = has_new_head

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def reset(self) -> None:
        from verl.utils import model

        load = model.load_valuehead_model
        if self._has_new_head:
            # Before the engine shards it.
            model.load_valuehead_model = lambda *args, **named: with_zero_head(load(*args, **named))
        try:
            self.engine.initialize()
        finally:
            model.load_valuehead_model = load

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def set_learning_rate(self, learning_rate: float) -> None:
        set_rate(self.engine, learning_rate)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def set_objective(self, clip: float | None) -> None:
        self.loss_fn = partial(value_objective, clip=clip)
