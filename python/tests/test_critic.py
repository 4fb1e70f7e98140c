"""What a critic is told, what is refused, and what is left when its numbers are not finite."""

from __future__ import annotations

import math
import unittest
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from agent_trainer_bridge.critic import CriticUpdate, ValueTargets, check_critic
from agent_trainer_bridge.engine import StartOptions
from agent_trainer_bridge.errors import BadRequest, BridgeError, NumericsError, UnsupportedError
from agent_trainer_bridge.loss import Loss
from agent_trainer_bridge.rows import Row, check_rows
from agent_trainer_bridge.training import Training
from agent_trainer_bridge.verl_engine.engine import VerlEngine
from agent_trainer_bridge.verl_engine.metrics import critic_metrics
from agent_trainer_bridge.verl_engine.versions import check_verl
from agent_trainer_bridge.wire import decode_rows, encode_rows

from .fake.engine import FakeEngine
from .rows_of import row_of

UPDATE = CriticUpdate(learning_rate=0.5, clip=0.5, epochs=1, is_warmup=False)
LOSS = Loss("importance_sampling")


def taught(value: float, target: float, factor: float = 1.0) -> Row:
    row = row_of([10, 97], [0, 1], [0, -3.3])
    return replace(row, critic=ValueTargets(array("f", [0, value]), array("f", [0, target]), factor))


class WireTest(unittest.TestCase):
    def test_carries_values_and_returns_where_a_row_has_them(self) -> None:
        rows = [row_of([7, 8], [0, 1]), taught(0.5, -0.25, 0.125)]
        body = encode_rows(rows, {"step": 1})
        back, fields = decode_rows(body)
        self.assertEqual(back, rows)
        self.assertEqual(fields, {"step": 1})
        for broken in (body[:-4], body.replace(b"[null, 0.125]", b"[0.125      ]"), body.replace(b"null", b'"no"')):
            with self.assertRaises(BadRequest):
                decode_rows(broken)

    def test_names_what_is_not_finite(self) -> None:
        for row, words in (
            (taught(0, math.nan), "Row 0 has a value in returns"),
            (taught(math.inf, 0), "Row 0 has a value in values"),
        ):
            with self.assertRaisesRegex(NumericsError, words):
                check_rows([row])
        with self.assertRaisesRegex(BadRequest, "critic's factor of row 0"):
            check_rows([taught(0, 0, math.nan)])

    def test_refuses_numbers_out_of_bounds(self) -> None:
        check_critic(UPDATE)
        for change in ({"learning_rate": -1.0}, {"clip": 0.0}, {"epochs": 0}, {"epochs": 1.5}, {"is_warmup": 1}):
            with self.assertRaisesRegex(BadRequest, f"{next(iter(change))} of the critic must be"):
                check_critic(replace(UPDATE, **change))


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        engine = FakeEngine()
        self.addCleanup(engine.close)
        self.training = Training(engine, "fake")

    def test_learns_the_return(self) -> None:
        self.training.start(StartOptions("m", 0, critic=True))
        row = taught(0, 1)
        metrics = self.training.update(1, [row], LOSS, 0.0, replace(UPDATE, epochs=2))["metrics"]
        # 0, then half of what is missing.
        self.assertAlmostEqual(metrics["value_loss"], (0.5 + 0.125) / 2)
        self.assertAlmostEqual(metrics["value_grad_norm"], (1 + 0.5) / 2)
        self.assertEqual(self.training.values([row]), [[0.0, 0.75]])
        # Clipped to 0.5 around what was, which is farther from the return.
        again = self.training.update(2, [taught(0, 1)], LOSS, 0.0, UPDATE)["metrics"]
        self.assertEqual(again["value_clip_fraction"], 1.0)
        self.assertEqual(self.training.values([row]), [[0.0, 0.75]])

    def test_is_refused_by_name_where_there_is_none(self) -> None:
        self.training.start(StartOptions("m", 0))
        self.assertFalse(self.training.describe()["critic"])
        with self.assertRaisesRegex(UnsupportedError, "There is no critic"):
            self.training.values([row_of([1, 2], [0, 1])])
        with self.assertRaisesRegex(UnsupportedError, "There is no critic"):
            self.training.update(1, [taught(0, 1)], LOSS, 0.1, UPDATE)
        self.assertIsNone(self.training.failure)


class Teacher:
    """As `verl_engine.critic.Critic`."""

    def __init__(self, calls: list[str], found: Mapping[str, float]) -> None:
        self.calls = calls
        self.found = found

    def update(self, rows: Sequence[Row], critic: CriticUpdate) -> Mapping[str, float]:
        self.calls.append(f"critic {len(rows)}")
        return self.found


class Engine(VerlEngine):
    def __init__(self, found: Mapping[str, float]) -> None:
        super().__init__()
        self.calls: list[str] = []
        self._cluster: Any = SimpleNamespace(is_colocated=False, critic=Teacher(self.calls, found))
        self.refuses = False

    def _update_policy(self, rows: Sequence[Row], loss: Loss, learning_rate: float) -> Mapping[str, float]:
        self.calls.append("policy")
        if self.refuses:
            raise NumericsError("grad_norm is nan.")
        return {"loss": 1.0}


class VerlEngineTest(unittest.TestCase):
    ROWS = [taught(0, 1), row_of([1, 2], [0, 1])]

    def test_teaches_the_critic_after_the_policy_and_only_with_rows_that_have_something_for_it(self) -> None:
        engine = Engine({"value_loss": 2.0})
        self.assertEqual(engine.update(self.ROWS, LOSS, 0.1, UPDATE), {"loss": 1.0, "value_loss": 2.0})
        self.assertEqual(engine.calls, ["policy", "critic 1"])
        self.assertEqual(engine.update(self.ROWS[1:], LOSS, 0.1, UPDATE), {"loss": 1.0})
        engine.calls.clear()
        self.assertEqual(engine.update(self.ROWS, LOSS, 0.1, replace(UPDATE, is_warmup=True))["tokens"], 2)
        self.assertEqual(engine.calls, ["critic 1"])

    def test_changes_nothing_where_the_policy_is_refused(self) -> None:
        engine = Engine({"value_loss": 2.0})
        engine.refuses = True
        with self.assertRaises(NumericsError):
            engine.update(self.ROWS, LOSS, 0.1, UPDATE)
        self.assertEqual(engine.calls, ["policy"])

    def test_is_broken_where_the_policy_has_learned_and_the_critic_cannot(self) -> None:
        engine = Engine({"value_loss": 2.0, "value_grad_norm": math.nan})
        with self.assertRaisesRegex(BridgeError, "value_grad_norm of the critic is nan.*cannot be taken back") as raised:
            engine.update(self.ROWS, LOSS, 0.1, UPDATE)
        self.assertNotIsInstance(raised.exception, NumericsError)
        # Alone, it left nothing changed.
        with self.assertRaises(NumericsError):
            engine.update(self.ROWS, LOSS, 0.1, replace(UPDATE, is_warmup=True))

    def test_reports_the_loss_without_factors(self) -> None:
        found = critic_metrics({"loss": [9.0], "value_loss": [[1.0], [3.0]], "grad_norm": [1.0, 2.0], "lr": 0.1})
        self.assertEqual(found, {"value_loss": 2.0, "value_grad_norm": 1.5})

    def test_needs_a_release_with_the_same_options(self) -> None:
        check_verl("0.8.0")
        check_verl("0.9.0", has_critic=True)
        with self.assertRaisesRegex(UnsupportedError, "gae needs verl 0.9"):
            check_verl("0.8.0", has_critic=True)


if __name__ == "__main__":
    unittest.main()
