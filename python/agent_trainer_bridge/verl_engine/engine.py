"""verl as the bridge asks for it: start, update, exchange of weights, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..engine import Metrics, Server, Started, StartOptions
from ..critic import CriticUpdate
from ..errors import BridgeError, NumericsError, UnsupportedError
from ..loss import Loss
from ..packing import pack
from ..rows import Row
from .versions import check_verl, installed_versions

_OPTIONS = {"ray_address", "setup_hook", "ray_init", "log_workers", "server_kind"}


class VerlEngine:
    def __init__(self) -> None:
        self._cluster: Any = None
        self._is_asleep = False
        self._loss: Loss | None = None
        self._has_adapter = False
        self._version = 0

    def start(self, options: StartOptions) -> Started:
        versions = installed_versions()
        check_verl(versions.get("verl"), options.critic)
        unknown = set(options.engine) - _OPTIONS
        if unknown:
            raise UnsupportedError(f"The verl engine has no option {sorted(unknown)[0]!r}.")
        from .attention import use_plain_padding
        from .cluster import Cluster, run_hook
        from .config import compose, context_length, has_adapter, logprob_kind

        if options.engine.get("setup_hook"):
            run_hook(options.engine["setup_hook"])
        use_plain_padding()
        config = compose(options.model, options.overrides, options.critic)
        self._has_adapter = has_adapter(config)
        # Without its adapter a model is its own reference.
        keeps_reference = options.reference and not self._has_adapter
        self._cluster = Cluster(config, options.engine, keeps_reference, options.critic, options.tell)
        # Servers begin with random weights.
        options.tell("Sending the weights to the inference servers.")
        self.sync(0)
        rollout = config.actor_rollout_ref.rollout.name
        kind = options.engine.get("server_kind", rollout)
        return Started(
            servers=[Server(url, kind, logprob_kind(config, kind)) for url in self._cluster.addresses],
            data_parallel_size=self._cluster.data_parallel_size,
            world_size=self._cluster.world_size,
            versions=versions,
            context_length=context_length(config),
        )

    def update(
        self, rows: Sequence[Row], loss: Loss, learning_rate: float, critic: CriticUpdate | None = None
    ) -> Metrics:
        if critic is not None and critic.is_warmup:
            self.sleep()
            return {"tokens": sum(row.target_count for row in rows), **self._teach(rows, critic)}
        metrics = self._update_policy(rows, loss, learning_rate)
        return metrics if critic is None else {**metrics, **self._teach(rows, critic)}

    def _teach(self, rows: Sequence[Row], critic: CriticUpdate) -> Metrics:
        """After the policy, whose step is the one that may be refused."""
        valued = [row for row in rows if row.critic is not None and row.target_count > 0]
        if not valued:
            return {}
        metrics = self._cluster.critic.update(valued, critic)
        odd = next((name for name, value in metrics.items() if not math.isfinite(value)), None)
        if odd is None:
            return metrics
        message = f"{odd} of the critic is {metrics[odd]}."
        if critic.is_warmup and critic.epochs == 1:
            raise NumericsError(message)
        raise BridgeError(f"{message} What was learned before it in this update cannot be taken back.")

    def _update_policy(self, rows: Sequence[Row], loss: Loss, learning_rate: float) -> Metrics:
        from verl.utils import tensordict_utils as tu

        from .metrics import own_metrics
        from .tensors import set_temperature, to_tensordict, training_columns
        from .token_losses import TOKEN_LOSSES

        if loss.name not in TOKEN_LOSSES:
            raise UnsupportedError(f"There is no loss {loss.name!r}. Known: {', '.join(TOKEN_LOSSES)}.")
        # Of the memory that servers and training share.
        self.sleep()
        reference = None if loss.kl_coef is None else self.forward(rows, "reference")
        ranks = self._cluster.data_parallel_size
        lengths = [len(row) for row in rows]
        packing = pack(lengths, ranks)
        data = to_tensordict(rows, training_columns(rows, reference), packing)
        count = len(packing.order)
        set_temperature(data, rows, packing)
        tu.assign_non_tensor(
            data,
            calculate_entropy=loss.entropy_coef != 0,
            compute_loss=True,
            global_batch_size=count,
            mini_batch_size=count,
            epochs=1,
            seed=0,
            dataloader_kwargs={"shuffle": False},
        )
        if loss != self._loss:
            self._cluster.workers.set_objective(dict(vars(loss)))
            self._loss = loss
        self._cluster.workers.set_learning_rate(learning_rate)
        metrics = own_metrics(tu.get(self._cluster.workers.update_actor(data), "metrics"))
        for name in ("grad_norm", "loss"):
            if not math.isfinite(metrics.get(name, 0.0)):
                # verl leaves the weights as they are when the gradient is not finite.
                raise NumericsError(f"{name} is {metrics[name]}.")
        loads = packing.loads(lengths)
        return {
            **metrics,
            "tokens": sum(row.target_count for row in rows),
            "ranks/rows": packing.rows_per_rank,
            "ranks/imbalance": max(loads) * ranks / sum(loads),
        }

    def forward(self, rows: Sequence[Row], which: str) -> list[list[float]]:
        from verl.utils import tensordict_utils as tu

        from .tensors import response_values, set_temperature, to_tensordict

        is_reference = which == "reference"
        if is_reference and not self._has_adapter and self._cluster.reference is None:
            raise UnsupportedError("The model as it was loaded is not kept. Start the bridge with reference.")
        packing = pack([len(row) for row in rows], self._cluster.data_parallel_size)
        data = to_tensordict(rows, {}, packing)
        set_temperature(data, rows, packing)
        tu.assign_non_tensor(data, calculate_entropy=False, compute_loss=False)
        if is_reference and self._has_adapter:
            tu.assign_non_tensor(data, no_lora_adapter=True)
        if is_reference and not self._has_adapter:
            output = self._cluster.reference.compute_ref_log_prob(data)
        else:
            output = self._cluster.workers.compute_log_prob(data)
        return response_values(tu.get(output, "log_probs"), data, rows, packing)

    def values(self, rows: Sequence[Row]) -> list[list[float]]:
        values: list[list[float]] = self._cluster.critic.values(rows)
        return values

    def sync(self, version: int) -> Metrics:
        self.sleep()
        self._cluster.exchange.update_weights(global_steps=version)
        self._is_asleep = False
        self._version = version
        return {}

    def sleep(self) -> None:
        """Servers on GPUs of their own share no memory with training, and go on answering."""
        if self._cluster.is_colocated and not self._is_asleep:
            self._cluster.exchange.sleep_replicas()
            self._is_asleep = True

    def wake(self) -> None:
        """By handing weights on: those of colocated servers went with their memory, and verl refuses any other way."""
        if self._is_asleep:
            self.sync(self._version)

    def save(self, folder: Path, step: int) -> None:
        self._cluster.save(folder, step)

    def load(self, folder: Path, step: int) -> None:
        self._cluster.load(folder)

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
