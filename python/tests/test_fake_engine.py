"""The toy engine behaves as verl's does where the trainer depends on it: sleep, wake, kinds of log-probabilities."""

from __future__ import annotations

import json
import math
import unittest
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from agent_trainer_bridge.engine import StartOptions
from agent_trainer_bridge.errors import NumericsError
from tests.fake.engine import FakeEngine
from agent_trainer_bridge.loss import Loss

from .rows_of import row_of

ROWS = [row_of([10, 121], [0, 1], [0, -3.3])]
LOSS = Loss("importance_sampling")


class FakeEngineTest(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = FakeEngine()
        self.addCleanup(self.engine.close)

    def start(self, overrides: Sequence[str] = (), **engine: Any) -> None:
        (server,) = self.engine.start(StartOptions("fake", 0, overrides, engine)).servers
        self.kind = server.logprob_kind
        self.url = server.url

    def complete(self, temperature: float = 1.0) -> tuple[int, float]:
        body = {"prompt": [10], "max_tokens": 1, "temperature": temperature, "seed": 3}
        request = urllib.request.Request(f"{self.url}/v1/completions", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            (choice,) = json.load(answer)["choices"]
        return choice["token_ids"][0], choice["logprobs"]["token_logprobs"][0]

    def assert_asleep(self) -> None:
        with self.assertRaises(urllib.error.HTTPError) as raised:
            self.complete()
        self.assertEqual(raised.exception.code, 503)
        raised.exception.close()

    def test_sleeps_from_an_update_to_the_next_sync(self) -> None:
        self.start()
        self.complete()
        self.engine.update(ROWS, LOSS, 0.1)
        self.assert_asleep()
        self.engine.sync(1)
        self.complete()

    def test_sleeps_on_after_an_update_that_is_refused_until_it_is_woken(self) -> None:
        self.start(not_finite_at=[1])
        before = self.complete()
        with self.assertRaises(NumericsError):
            self.engine.update(ROWS, LOSS, 0.1)
        self.assert_asleep()
        self.engine.wake()
        self.assertEqual(self.complete(), before)

    def test_answers_during_updates_on_gpus_of_its_own(self) -> None:
        self.start(["actor_rollout_ref.hybrid_engine=false"])
        before = self.complete()
        self.engine.update(ROWS, LOSS, 0.1)
        self.assertEqual(self.complete(), before)

    def test_gives_the_log_probabilities_that_it_was_told_to(self) -> None:
        # 26 letters with logit 2 and 234 ids with -2; at temperature 0.5 twice that.
        def logprob(temperature: float) -> float:
            total = 26 * math.exp(2 / temperature) + 234 * math.exp(-2 / temperature)
            return 2 / temperature - math.log(total)

        for mode, kind, expected in (("raw", "raw", logprob(1)), ("processed", "processed", logprob(0.5))):
            self.start([f"actor_rollout_ref.rollout.logprobs_mode={mode}_logprobs"])
            self.assertEqual(self.kind, kind)
            token, found = self.complete(0.5)
            self.assertTrue(ord("a") <= token <= ord("z"))
            self.assertAlmostEqual(found, expected, 6)
            self.engine.close()


if __name__ == "__main__":
    unittest.main()
