"""The toy policy as an engine: two ranks, plain gradient descent, a server in this process."""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_trainer_bridge.critic import CriticUpdate
from agent_trainer_bridge.engine import Metrics, Server, Started, StartOptions
from agent_trainer_bridge.errors import CheckpointError, NumericsError, UnsupportedError
from agent_trainer_bridge.loss import Loss
from agent_trainer_bridge.packing import pack
from agent_trainer_bridge.rows import Row
from .critic import learn_values, values_of
from .gradient import Gradient, gradient_of
from .inference_server import InferenceServer
from .policy import Policy

RANKS = 2
CONTEXT_LENGTH = 2048
STEP_SCALE = 40.0
"""Learning rates of neural networks would move a table of logits too little to see."""
_OPTIONS = {"start_seconds", "update_seconds", "fail_at_step", "not_finite_at"}
_ROLLOUT = "actor_rollout_ref.rollout"


class FakeEngine:
    """Of verl's options it knows the placement and the kind of log-probabilities.

    For tests, `start_seconds` makes the start slow, `update_seconds` updates, `fail_at_step` breaks one, and the
    gradients of the calls of `update` that `not_finite_at` lists, from 1, are not finite.
    """

    def __init__(self) -> None:
        self._is_colocated = True
        self._calls = 0
        self._policy = Policy()
        self._reference = Policy()
        self._server: InferenceServer | None = None
        self._options: Mapping[str, Any] = {}
        self._updates = 0
        self._critic: dict[int, float] = {}

    def start(self, options: StartOptions) -> Started:
        unknown = set(options.engine) - _OPTIONS
        if unknown:
            raise UnsupportedError(f"The fake engine has no option {sorted(unknown)[0]!r}.")
        self._options = options.engine
        options.tell("Loading the toy policy.")
        print("The toy policy has 260 logits.", file=sys.stderr)
        time.sleep(self._options.get("start_seconds", 0))
        overrides = dict(entry.split("=", 1) for entry in options.overrides if "=" in entry)
        self._is_colocated = overrides.get("actor_rollout_ref.hybrid_engine", "true") != "false"
        is_processed = overrides.get(f"{_ROLLOUT}.logprobs_mode") == "processed_logprobs"
        self._server = InferenceServer(self._policy.copy(), CONTEXT_LENGTH, is_processed)
        return Started(
            servers=[Server(self._server.url, "vllm", "processed" if is_processed else "raw")],
            data_parallel_size=RANKS,
            world_size=RANKS,
            versions={"python": platform.python_version()},
            context_length=CONTEXT_LENGTH,
        )

    def update(
        self, rows: Sequence[Row], loss: Loss, learning_rate: float, critic: CriticUpdate | None = None
    ) -> Metrics:
        if critic is not None and critic.is_warmup:
            self._calls += 1
            self.sleep()
            self._updates += 1
            return {"tokens": sum(row.target_count for row in rows), **learn_values(self._critic, rows, critic)}
        metrics = self._update_policy(rows, loss, learning_rate)
        return metrics if critic is None else {**metrics, **learn_values(self._critic, rows, critic)}

    def _update_policy(self, rows: Sequence[Row], loss: Loss, learning_rate: float) -> Metrics:
        if self._options.get("fail_at_step") == self._updates + 1:
            raise RuntimeError("This step was told to fail.")
        self._calls += 1
        self.sleep()
        lengths = [len(row) for row in rows]
        packing = pack(lengths, RANKS)
        total = Gradient()
        size = packing.rows_per_rank
        for rank in range(RANKS):
            places = packing.order[rank * size : (rank + 1) * size]
            own = [rows[index] for index in places if index is not None]
            total.add(gradient_of(self._policy, own, loss, self._reference))
        norm = math.nan if self._calls in self._options.get("not_finite_at", ()) else total.norm
        if not (math.isfinite(norm) and math.isfinite(total.loss)):
            raise NumericsError(f"The gradient's norm is {norm}.")
        self._descend(total, learning_rate * STEP_SCALE)
        loads = packing.loads(lengths)
        return {
            "loss": total.loss,
            "grad_norm": norm,
            "tokens": total.tokens,
            **total.means,
            "ranks/rows": size,
            "ranks/imbalance": max(loads) / (sum(loads) / RANKS),
        }

    def forward(self, rows: Sequence[Row], which: str) -> list[list[float]]:
        policy = self._reference if which == "reference" else self._policy
        return [
            [
                0.0 if masked == 0 else policy.logprobs(row.tokens[at - 1], row.temperature)[row.tokens[at]]
                for at, masked in enumerate(row.target_mask)
            ]
            for row in rows
        ]

    def values(self, rows: Sequence[Row]) -> list[list[float]]:
        return [values_of(self._critic, row) for row in rows]

    def sync(self, version: int) -> Metrics:
        self._serving().serve(self._policy.copy())
        return {}

    def sleep(self) -> None:
        if self._is_colocated:
            self._serving().sleep()

    def wake(self) -> None:
        if self._serving().policy is None:
            self._serving().serve(self._policy.copy())

    def save(self, folder: Path, step: int) -> None:
        (folder / "policy.json").write_text(json.dumps({"step": step, "logits": self._policy.logits, "critic": self._critic}))

    def load(self, folder: Path, step: int) -> None:
        try:
            state = json.loads((folder / "policy.json").read_text())
            critic = {int(last): float(value) for last, value in state["critic"].items()}
            logits = {int(last): [float(value) for value in row] for last, row in state["logits"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CheckpointError(f"{folder / 'policy.json'} cannot be read: {error}.") from error
        self._policy = Policy(logits)
        self._critic = critic
        self._updates = step

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def _serving(self) -> InferenceServer:
        assert self._server is not None
        return self._server

    def _descend(self, gradient: Gradient, size: float) -> None:
        seconds = float(self._options.get("update_seconds", 0)) / 2
        # Half-way through is where tests kill it.
        for part, (last, values) in enumerate(sorted(gradient.logits.items())):
            if part == len(gradient.logits) // 2:
                time.sleep(seconds)
            row = self._policy.row(last)
            self._policy.logits[last] = [own - size * value for own, value in zip(row, values)]
        time.sleep(seconds)
        self._updates += 1
