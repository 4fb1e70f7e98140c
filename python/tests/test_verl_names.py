"""What is known of verl without verl: names of its metrics, and its versions."""

from __future__ import annotations

import unittest

from agent_trainer_bridge.errors import UnsupportedError
from agent_trainer_bridge.verl_engine.exchange import check_exchange
from agent_trainer_bridge.verl_engine.metrics import own_metrics
from agent_trainer_bridge.verl_engine.versions import check_verl


class MetricsTest(unittest.TestCase):
    def test_reduces_lists_and_names_them(self) -> None:
        metrics = own_metrics({"loss": [[1.0, 3.0], [2.0]], "perf/max_memory": [1, 5], "grad_norm": 0.5, "mfu": "?"})
        self.assertEqual(metrics["loss"], 2.0)
        self.assertEqual(metrics["verl/perf/max_memory"], 5.0)
        self.assertEqual(metrics["grad_norm"], 0.5)
        self.assertNotEqual(metrics["mfu"], metrics["mfu"])

    def test_makes_the_effective_sample_size_of_two_means(self) -> None:
        # Ratios 1 and 3.
        metrics = own_metrics({"ratio_mean": [2.0], "ratio_squared": [5.0]})
        self.assertEqual(metrics, {"ratio_mean": 2.0, "chi2": 4.0, "ess_fraction": 0.8})


class ExchangeTest(unittest.TestCase):
    """How the registry of each release says that nccl is not there, without cupy."""

    class Verl080:
        @staticmethod
        def get(backend: str) -> object:
            return {"naive": object}[backend]

    class Verl091:
        @staticmethod
        def get(backend: str) -> object:
            if backend == "naive":
                return object
            raise ValueError(
                f"Checkpoint engine {backend} not registered, registered backends: ['naive']. "
                "Engine modules that failed to import: nccl: No module named 'cupy'"
            )

    def test_says_what_is_missing_in_every_release(self) -> None:
        for registry in (self.Verl080, self.Verl091):
            check_exchange(registry, "naive")
            with self.assertRaisesRegex(UnsupportedError, "exchange weights by 'nccl'.*nccl needs the package cupy"):
                check_exchange(registry, "nccl")
        with self.assertRaisesRegex(UnsupportedError, "verl says: .*No module named 'cupy'"):
            check_exchange(self.Verl091, "nccl")


class VersionsTest(unittest.TestCase):
    def test_knows_two_lines_of_releases(self) -> None:
        for version in ("0.8.0", "0.9.1", "0.9.0.dev3"):
            check_verl(version)
        for unknown in ("0.7.1", "0.10.0", "1.0"):
            with self.assertRaisesRegex(UnsupportedError, f"verl {unknown} is installed, but this bridge knows 0.8"):
                check_verl(unknown)
        with self.assertRaisesRegex(UnsupportedError, "not installed"):
            check_verl(None)


if __name__ == "__main__":
    unittest.main()
