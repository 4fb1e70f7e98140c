"""Which updates are done, which are refused, and which are told again."""

from __future__ import annotations

import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

from agent_trainer_bridge.critic import CriticUpdate
from agent_trainer_bridge.engine import Metrics, Started, StartOptions
from agent_trainer_bridge.errors import CheckpointError, Conflict, NotReady, NumericsError
from agent_trainer_bridge.loss import Loss
from agent_trainer_bridge.rows import Row
from agent_trainer_bridge.training import Training

from .rows_of import row_of

ROWS = [row_of([1, 2], [0, 1])]
LOSS = Loss()


class CountingEngine:
    def __init__(self) -> None:
        self.updates = 0
        self.syncs: list[int] = []
        self.fails: Exception | None = None
        self.wakes = 0

    def start(self, options: StartOptions) -> Started:
        return Started([], 1, 1, {})

    def update(
        self, rows: Sequence[Row], loss: Loss, learning_rate: float, critic: CriticUpdate | None = None
    ) -> Metrics:
        if self.fails is not None:
            raise self.fails
        self.updates += 1
        return {"loss": float(self.updates), "mfu": float("nan")}

    def forward(self, rows: Sequence[Row], which: str) -> list[list[float]]:
        return [[0.0] * len(row) for row in rows]

    def values(self, rows: Sequence[Row]) -> list[list[float]]:
        return [[0.0] * len(row) for row in rows]

    def sync(self, version: int) -> Metrics:
        self.syncs.append(version)
        return {}

    def sleep(self) -> None: ...

    def wake(self) -> None:
        self.wakes += 1

    def save(self, folder: Path, step: int) -> None:
        (folder / "weights").write_text(str(self.updates))

    def load(self, folder: Path, step: int) -> None:
        self.updates = int((folder / "weights").read_text())

    def close(self) -> None: ...


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = CountingEngine()
        self.training = Training(self.engine, "counting")
        self.training.start(StartOptions("model", 0))

    def test_does_a_step_once(self) -> None:
        first = self.training.update(1, ROWS, LOSS, 0.1)
        again = self.training.update(1, ROWS, LOSS, 0.1)
        self.assertEqual(self.engine.updates, 1)
        self.assertEqual((first["repeated"], again["repeated"]), (False, True))
        # Not a number is left out.
        self.assertEqual(again["metrics"], {"loss": 1.0})

    def test_refuses_a_step_out_of_turn(self) -> None:
        for step in (0, 2):
            with self.assertRaisesRegex(Conflict, f"Step {step} was asked for, but 0 steps are done"):
                self.training.update(step, ROWS, LOSS, 0.1)
        self.assertEqual(self.engine.updates, 0)

    def test_goes_on_after_numbers_that_are_not_finite(self) -> None:
        self.engine.fails = NumericsError("grad_norm is inf.")
        with self.assertRaises(NumericsError):
            self.training.update(1, ROWS, LOSS, 0.1)
        self.engine.fails = None
        self.assertEqual(self.training.update(1, ROWS, LOSS, 0.1)["step"], 1)

    def test_stops_after_any_other_failure(self) -> None:
        self.engine.fails = RuntimeError("out of memory")
        with self.assertRaises(RuntimeError):
            self.training.update(1, ROWS, LOSS, 0.1)
        self.engine.fails = None
        with self.assertRaisesRegex(Conflict, "RuntimeError: out of memory"):
            self.training.update(1, ROWS, LOSS, 0.1)

    def test_syncs_a_version_once_and_never_back(self) -> None:
        self.training.sync(2)
        self.training.sync(2)
        self.assertEqual(self.engine.syncs, [2])
        with self.assertRaisesRegex(Conflict, "Version 1 was asked for, but 2"):
            self.training.sync(1)

    def test_wakes_servers_for_the_weights_that_they_had_only(self) -> None:
        self.training.sync(1)
        self.training.wake()
        self.training.update(1, ROWS, LOSS, 0.1)
        with self.assertRaisesRegex(Conflict, "changed since version 1 was served"):
            self.training.wake()
        # The version that is served already: nothing was handed on.
        self.training.sync(1)
        with self.assertRaises(Conflict):
            self.training.wake()
        self.training.sync(2)
        self.training.wake()
        self.assertEqual(self.engine.wakes, 2)

    def test_loads_what_it_saved_with_its_step(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            self.training.update(1, ROWS, LOSS, 0.1)
            self.training.save(Path(name))
            self.training.update(2, ROWS, LOSS, 0.1)
            self.assertEqual(self.training.load(Path(name), 1), {"step": 1, "weight_version": 1})
            self.assertEqual(self.training.update(2, ROWS, LOSS, 0.1)["metrics"]["loss"], 2.0)

    def test_refuses_a_folder_that_is_no_checkpoint_or_another_engines(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            with self.assertRaisesRegex(CheckpointError, "cannot be read"):
                self.training.load(Path(name), 0)
            Training.save(self.training, Path(name))
            other = Training(CountingEngine(), "other")
            other.start(StartOptions("model", 0))
            with self.assertRaisesRegex(CheckpointError, "saved by the engine 'counting'"):
                other.load(Path(name), 0)

    def test_asks_for_a_start(self) -> None:
        with self.assertRaises(NotReady):
            Training(CountingEngine(), "counting").update(1, ROWS, LOSS, 0.1)


if __name__ == "__main__":
    unittest.main()
