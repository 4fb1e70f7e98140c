"""verl's worker with two more methods. Imported where verl is: in the engine, when it starts."""

from __future__ import annotations

from functools import partial
from typing import Any

from verl.single_controller.base.decorator import Dispatch, register
from verl.workers.engine_workers import ActorRolloutRefWorker

from .attention import use_plain_padding
from .objective import policy_objective
from .rates import set_rate


class BridgeWorker(ActorRolloutRefWorker):
    """Takes the learning rate and the loss of each step, which verl fixes when it starts."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        use_plain_padding()
        super().__init__(*args, **kwargs)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def set_learning_rate(self, learning_rate: float) -> None:
        set_rate(self.actor.engine, learning_rate)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def set_objective(self, numbers: dict[str, Any]) -> None:
        """`numbers` are the fields of `Loss`."""
        self.actor.set_loss_fn(partial(policy_objective, numbers=numbers))
