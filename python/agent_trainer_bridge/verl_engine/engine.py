"""verl as the bridge asks for it: start, update, exchange of weights, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..engine import Loss, Metrics, Server, Started, StartOptions
from ..errors import NumericsError, UnsupportedError
from ..packing import pack
from ..rows import Row
from .losses import actor_loss, token_weights
from .versions import check_verl, installed_versions

_OPTIONS = {"ray_address", "setup_hook", "ray_init", "log_workers", "server_kind"}


class VerlEngine:
    def __init__(self) -> None:
        self._cluster: Any = None
        self._is_asleep = False
        self._loss: Any = None

    def start(self, options: StartOptions) -> Started:
        versions = installed_versions()
        check_verl(versions.get("verl"))
        unknown = set(options.engine) - _OPTIONS
        if unknown:
            raise UnsupportedError(f"The verl engine has no option {sorted(unknown)[0]!r}.")
        from .cluster import Cluster, run_hook
        from .config import compose, context_length

        if options.engine.get("setup_hook"):
            run_hook(options.engine["setup_hook"])
        config = compose(options.model, options.overrides)
        self._cluster = Cluster(config, options.engine)
        # Servers begin with random weights.
        self._cluster.exchange.sleep_replicas()
        self._cluster.exchange.update_weights(global_steps=0)
        rollout = config.actor_rollout_ref.rollout.name
        kind = options.engine.get("server_kind", rollout)
        return Started(
            servers=[Server(url, kind, "processed" if kind == "sglang" else "raw") for url in self._cluster.addresses],
            data_parallel_size=self._cluster.data_parallel_size,
            world_size=self._cluster.world_size,
            versions=versions,
            context_length=context_length(config),
        )

    def update(self, rows: Sequence[Row], loss: Loss, learning_rate: float) -> Metrics:
        from verl.utils import tensordict_utils as tu

        from .metrics import own_metrics
        from .tensors import to_tensordict

        wanted = actor_loss(loss)
        ranks = self._cluster.data_parallel_size
        lengths = [len(row) for row in rows]
        packing = pack(lengths, ranks)
        data = to_tensordict(rows, token_weights(rows, wanted), packing)
        trained = sum(row.target_count > 0 for row in rows)
        count = len(packing.order)
        tu.assign_non_tensor(
            data,
            temperature=1.0,
            calculate_entropy=False,
            compute_loss=True,
            global_batch_size=trained,
            mini_batch_size=count,
            epochs=1,
            seed=0,
            dataloader_kwargs={"shuffle": False},
        )
        # Of the memory that servers and training share.
        self.sleep()
        if wanted != self._loss:
            fields = {name: value for name, value in vars(wanted).items() if name != "loss_mode"}
            self._cluster.workers.set_policy_loss(wanted.loss_mode, fields)
            self._loss = wanted
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
        if which == "reference":
            raise UnsupportedError("This bridge keeps no reference model.")
        from verl.utils import tensordict_utils as tu

        from .tensors import response_values, to_tensordict

        packing = pack([len(row) for row in rows], self._cluster.data_parallel_size)
        data = to_tensordict(rows, None, packing)
        tu.assign_non_tensor(data, temperature=1.0, calculate_entropy=False, compute_loss=False)
        output = self._cluster.workers.compute_log_prob(data)
        return response_values(tu.get(output, "log_probs"), data, rows, packing)

    def sync(self, version: int) -> Metrics:
        self.sleep()
        self._cluster.exchange.update_weights(global_steps=version)
        self._is_asleep = False
        return {}

    def sleep(self) -> None:
        if not self._is_asleep:
            self._cluster.exchange.sleep_replicas()
            self._is_asleep = True

    def wake(self) -> None:
        if self._is_asleep:
            self._cluster.exchange.wake_up_replicas()
            self._is_asleep = False

    def save(self, folder: Path, step: int) -> None:
        self._cluster.save(folder / "actor", step)

    def load(self, folder: Path, step: int) -> None:
        self._cluster.load(folder / "actor")

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
