"""Ray that does not start in its 30 s."""

from __future__ import annotations

import unittest
from typing import Any

from agent_trainer_bridge.errors import BridgeError
from agent_trainer_bridge.verl_engine.cluster import start_ray

SLOW = Exception("The current node timed out during startup. This could happen because some of the raylet failed.")


class Ray:
    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls: list[Any] = []
        self.said: list[str] = []

    def init(self, **options: Any) -> None:
        self.calls.append(options)
        if self.failures:
            raise self.failures.pop(0)

    def end(self) -> None:
        self.calls.append("ended")


class StartRayTest(unittest.TestCase):
    def test_is_started_once_where_that_works(self) -> None:
        ray = Ray()
        start_ray(ray, ray.end, ray.said.append, address="local")
        self.assertEqual(ray.calls, [{"address": "local"}])

    def test_is_ended_and_started_again_after_its_30_seconds(self) -> None:
        ray = Ray(SLOW)
        start_ray(ray, ray.end, ray.said.append, address="local")
        self.assertEqual(ray.calls, [{"address": "local"}, "ended", {"address": "local"}])
        self.assertEqual(ray.said, ["Ray did not start within its 30 s: trying again (2 of 5)."])

    def test_fails_after_the_fifth_start(self) -> None:
        ray = Ray(*[SLOW] * 6)
        with self.assertRaisesRegex(BridgeError, "5 times.*ray_address"):
            start_ray(ray, ray.end, ray.said.append)
        self.assertEqual(len(ray.calls), 9)

    def test_is_not_started_again_after_another_failure(self) -> None:
        ray = Ray(ConnectionError("no such head"))
        with self.assertRaises(ConnectionError):
            start_ray(ray, ray.end, ray.said.append)
        self.assertEqual(ray.calls, [{}])


if __name__ == "__main__":
    unittest.main()
