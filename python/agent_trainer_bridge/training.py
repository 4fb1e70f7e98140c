"""The state of one training: how many steps are done, which weights are served, whether it broke.

Makes updates safe to repeat: a step that was done is not done again. Knows no HTTP.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .critic import CriticUpdate
from .engine import Engine, Started, StartOptions
from .errors import BadRequest, BridgeError, CheckpointError, Conflict, NotReady, NumericsError, UnsupportedError
from .loss import Loss
from .rows import Row, check_rows

_STATE_FILE = "bridge.json"


class Training:
    def __init__(self, engine: Engine, engine_name: str, tell: Callable[[str], None] = lambda _: None) -> None:
        """`tell` hears what a start is doing."""
        self._engine = engine
        self.tell = tell
        self.engine_name = engine_name
        self.started: Started | None = None
        self._model = ""
        self._has_critic = False
        self.failure: str | None = None
        self.step = 0
        """Optimizer steps done."""
        self.weight_version = 0
        self._is_ahead = False
        """The weights have changed since they were served."""
        self._last_metrics: dict[str, float] = {}

    def start(self, options: StartOptions) -> dict[str, Any]:
        if self.started is not None:
            raise Conflict("The engine has been started already.")
        self.started = self._guard(lambda: self._engine.start(options))
        self._model = options.model
        self._has_critic = options.critic
        return self.describe()

    def describe(self) -> dict[str, Any]:
        started = self._ready()
        return {
            "model": self._model,
            "servers": [vars(server) for server in started.servers],
            "data_parallel_size": started.data_parallel_size,
            "world_size": started.world_size,
            "versions": dict(started.versions),
            "context_length": started.context_length,
            "critic": self._has_critic,
            "step": self.step,
            "weight_version": self.weight_version,
        }

    def update(
        self, step: int, rows: Sequence[Row], loss: Loss, learning_rate: float, critic: CriticUpdate | None = None
    ) -> dict[str, Any]:
        """Does step `step`; the step done last answers again with what it came to."""
        started = self._ready()
        if step == self.step and step > 0:
            return {"step": step, "metrics": self._last_metrics, "repeated": True}
        if step != self.step + 1:
            raise Conflict(f"Step {step} was asked for, but {self.step} steps are done. Load the checkpoint that fits.")
        check_rows(rows, started.context_length)
        if not (math.isfinite(learning_rate) and learning_rate >= 0):
            raise BadRequest(f"learning_rate must be at least 0, but it is {learning_rate}.")
        if critic is not None:
            self._need_critic()
        metrics = dict(self._guard(lambda: self._engine.update(rows, loss, learning_rate, critic)))
        self.step = step
        self._is_ahead = True
        self._last_metrics = {key: value for key, value in metrics.items() if math.isfinite(value)}
        return {"step": step, "metrics": self._last_metrics, "repeated": False}

    def forward(self, rows: Sequence[Row], which: str) -> list[list[float]]:
        started = self._ready()
        if which not in ("current", "reference"):
            raise BadRequest(f"which must be current or reference, but it is {which!r}.")
        check_rows(rows, started.context_length)
        logprobs: list[list[float]] = self._guard(lambda: self._engine.forward(rows, which))
        return logprobs

    def values(self, rows: Sequence[Row]) -> list[list[float]]:
        started = self._ready()
        self._need_critic()
        check_rows(rows, started.context_length)
        values: list[list[float]] = self._guard(lambda: self._engine.values(rows))
        if not all(math.isfinite(value) for row in values for value in row):
            raise NumericsError("The critic gave a value that is not finite.")
        return values

    def sync(self, version: int) -> dict[str, Any]:
        """Serves the trained weights as `version`; the same version again does nothing."""
        self._ready()
        if version < self.weight_version:
            raise Conflict(f"Version {version} was asked for, but {self.weight_version} is served.")
        metrics = {} if version == self.weight_version else dict(self._guard(lambda: self._engine.sync(version)))
        self._is_ahead = self._is_ahead and version == self.weight_version
        self.weight_version = version
        return {"weight_version": version, "metrics": metrics}

    def sleep(self) -> dict[str, Any]:
        self._ready()
        self._guard(self._engine.sleep)
        return {}

    def wake(self) -> dict[str, Any]:
        """Serves again after an update that was refused and changed nothing."""
        self._ready()
        if self._is_ahead:
            raise Conflict(
                f"The weights have changed since version {self.weight_version} was served. Sync them as a new version."
            )
        self._guard(self._engine.wake)
        return {}

    def save(self, folder: Path) -> dict[str, Any]:
        self._ready()
        folder.mkdir(parents=True, exist_ok=True)
        self._guard(lambda: self._engine.save(folder, self.step))
        # Last, and whole or not at all: a folder without it is no checkpoint.
        state = {"engine": self.engine_name, "step": self.step, "world_size": self._ready().world_size}
        temporary = folder / f"{_STATE_FILE}.part"
        with temporary.open("w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / _STATE_FILE)
        return state

    def load(self, folder: Path, weight_version: int) -> dict[str, Any]:
        started = self._ready()
        try:
            state = json.loads((folder / _STATE_FILE).read_text())
            step, engine, world_size = state["step"], state["engine"], state["world_size"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{folder / _STATE_FILE} cannot be read: {error}.") from error
        if engine != self.engine_name:
            raise CheckpointError(f"{folder} was saved by the engine {engine!r}, not {self.engine_name!r}.")
        if world_size != started.world_size:
            raise CheckpointError(
                f"{folder} was saved by {world_size} processes, but there are {started.world_size} now. "
                "The engine's files are cut by process, so start as many."
            )
        self._guard(lambda: self._engine.load(folder, step))
        self._guard(lambda: self._engine.sync(weight_version))
        self.step = step
        self.weight_version = weight_version
        self._is_ahead = False
        self._last_metrics = {}
        return {"step": step, "weight_version": weight_version}

    def close(self) -> None:
        self._engine.close()

    def _need_critic(self) -> None:
        if not self._has_critic:
            raise UnsupportedError("There is no critic. Start the bridge with critic.")

    def _ready(self) -> Started:
        if self.failure is not None:
            raise Conflict(f"The engine has failed and cannot go on: {self.failure}")
        if self.started is None:
            raise NotReady("The engine has not been started.")
        return self.started

    def _guard(self, work: Any) -> Any:
        """What an engine did not refuse but broke at may have left any state behind."""
        try:
            return work()
        except (NumericsError, BadRequest, CheckpointError, UnsupportedError):
            raise
        except BridgeError as error:
            self.failure = str(error)
            raise
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
            raise
