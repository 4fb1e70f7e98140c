"""verl's critic as the bridge asks for it: values of rows, updates, checkpoints. A whole model, apart from the policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..critic import CriticUpdate
from ..engine import Metrics
from ..errors import CheckpointError
from ..packing import pack
from ..rows import Row
from .metrics import critic_metrics
from .tensors import response_values, to_tensordict, value_columns

ROLE = "critic"


class Critic:
    """`group` is the worker group of `CriticWorker`."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self._clip: float | None = None
        self._has_objective = False

    def values(self, rows: Sequence[Row]) -> list[list[float]]:
        from verl.utils import tensordict_utils as tu

        packing = pack([len(row) for row in rows], self._ranks)
        data = to_tensordict(rows, {}, packing)
        tu.assign_non_tensor(data, compute_loss=False, temperature=1.0)
        output = self._group.infer_batch(data).get()
        return response_values(tu.get(output, "values"), data, rows, packing)

    def update(self, rows: Sequence[Row], critic: CriticUpdate) -> Metrics:
        """Only rows with something to learn, of which there must be one; a value may be one that is not finite."""
        from verl.utils import tensordict_utils as tu

        packing = pack([len(row) for row in rows], self._ranks)
        data = to_tensordict(rows, value_columns(rows), packing)
        count = len(packing.order)
        tu.assign_non_tensor(
            data,
            compute_loss=True,
            temperature=1.0,
            global_batch_size=count,
            mini_batch_size=count,
            epochs=critic.epochs,
            seed=0,
            dataloader_kwargs={"shuffle": False},
        )
        if not self._has_objective or critic.clip != self._clip:
            self._group.set_objective(critic.clip)
            self._clip, self._has_objective = critic.clip, True
        self._group.set_learning_rate(critic.learning_rate)
        output = self._group.train_mini_batch(data).get()
        return critic_metrics(tu.get(output, "metrics"))

    def save(self, folder: Path, step: int) -> None:
        self._group.save_checkpoint(str(folder / ROLE), None, step, None)

    def load(self, folder: Path) -> None:
        if not (folder / ROLE).is_dir():
            raise CheckpointError(f"{folder} has no critic, so it was saved by a run without one.")
        self._group.load_checkpoint(str(folder / ROLE), None, False)

    @property
    def _ranks(self) -> int:
        return int(max(self._group._query_dispatch_info("train"))) + 1


def critic_class(config: Any, ray: Any) -> Any:
    """For `create_colocated_worker_cls`: verl's worker on `config.critic`. As verl's own trainer makes it."""
    from verl.single_controller.ray import RayClassWithInitArgs
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.config import TrainingWorkerConfig

    from .critic_worker import CriticWorker

    settings = omega_conf_to_dataclass(config.critic)
    engine = settings.engine
    engine.use_dynamic_bsz = settings.use_dynamic_bsz
    engine.infer_max_token_len_per_gpu = settings.ppo_infer_max_token_len_per_gpu
    engine.max_token_len_per_gpu = settings.ppo_max_token_len_per_gpu
    engine.infer_micro_batch_size_per_gpu = settings.ppo_infer_micro_batch_size_per_gpu
    engine.micro_batch_size_per_gpu = settings.ppo_micro_batch_size_per_gpu
    training = TrainingWorkerConfig(
        model_type="value_model",
        model_config=settings.model,
        engine_config=engine,
        optimizer_config=settings.optim,
        checkpoint_config=settings.checkpoint,
    )
    # A head that was trained before is kept.
    is_new = config.critic.model.path == config.actor_rollout_ref.model.path
    return RayClassWithInitArgs(cls=ray.remote(CriticWorker), config=training, has_new_head=is_new)
