"""What the bridge asks of an engine. Engines know no HTTP, no tokens of access, no operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .critic import CriticUpdate
from .loss import Loss
from .rows import Row

Metrics = Mapping[str, float]


@dataclass(frozen=True)
class StartOptions:
    model: str
    seed: int
    overrides: Sequence[str] = ()
    """The engine's own settings, `key=value`."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """What is not the engine's configuration: the address of Ray, a setup hook."""
    reference: bool = False
    """Whether the model as it was loaded is asked for later."""
    critic: bool = False
    """Whether a critic is trained beside the policy."""
    tell: Callable[[str], None] = lambda _: None
    """Called with a sentence when another part of the start begins."""


@dataclass(frozen=True)
class Server:
    """An inference server that answers while the weights do not change."""

    url: str
    kind: str
    logprob_kind: str
    """`raw`: the full softmax at temperature 1; `processed`: after temperature and truncation."""


@dataclass(frozen=True)
class Started:
    servers: Sequence[Server]
    data_parallel_size: int
    world_size: int
    versions: Mapping[str, str]
    context_length: int | None = None


class Engine(Protocol):
    """All calls come from one thread, one at a time."""

    def start(self, options: StartOptions) -> Started: ...

    def update(
        self, rows: Sequence[Row], loss: Loss, learning_rate: float, critic: CriticUpdate | None = None
    ) -> Metrics:
        """One optimizer step. Raises NumericsError when nothing changed because of a value that is not finite.

        With `critic`, the critic learns from rows that have something for it, after the policy.
        """

    def forward(self, rows: Sequence[Row], which: str) -> list[list[float]]:
        """[row][length] log-probability of each token; 0 outside the target mask."""

    def values(self, rows: Sequence[Row]) -> list[list[float]]:
        """[row][length] what the critic gives for the tokens before each one; 0 outside the target mask."""

    def sync(self, version: int) -> Metrics:
        """Serves the trained weights."""

    def sleep(self) -> None:
        """Gives the memory of the inference servers back, their weights included."""

    def wake(self) -> None:
        """Serves the trained weights again, which are those that were served before `sleep`."""

    def save(self, folder: Path, step: int) -> None: ...

    def load(self, folder: Path, step: int) -> None: ...

    def close(self) -> None: ...
