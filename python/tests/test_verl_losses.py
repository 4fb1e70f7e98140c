"""What undoes verl's sums: worked by hand, without torch."""

from __future__ import annotations

import unittest

from agent_trainer_bridge.engine import Loss
from agent_trainer_bridge.errors import UnsupportedError
from agent_trainer_bridge.verl_engine.losses import actor_loss, token_weights
from agent_trainer_bridge.verl_engine.metrics import own_metrics
from agent_trainer_bridge.verl_engine.versions import check_verl

from .rows_of import row_of

# Per-token losses 1, 2 and 3 in one row, 4 in another; a third trains nothing.
ROWS = [
    row_of([5, 6, 7, 8], [0, 1, 1, 1], factor=0.5),
    row_of([5, 6], [0, 1], factor=2.0),
    row_of([5, 6], [0, 0]),
]
LOSSES = [[1.0, 2.0, 3.0], [4.0]]
SUM = 0.5 * 6 + 2 * 4
"""Of loss times factor."""


class LossesTest(unittest.TestCase):
    def trained(self, name: str) -> list[list[float]]:
        weights = token_weights(ROWS, actor_loss(Loss(name)))
        return [[w for w, m in zip(ws, row.target_mask) if m] for ws, row in zip(weights, ROWS)][:2]

    def test_undoes_the_mean_over_tokens(self) -> None:
        total = sum(x * w for xs, ws in zip(LOSSES, self.trained("ppo")) for x, w in zip(xs, ws))
        self.assertAlmostEqual(total / 4, SUM)

    def test_undoes_the_mean_over_rows_of_means_over_tokens(self) -> None:
        means = [sum(x * w for x, w in zip(xs, ws)) / len(xs) for xs, ws in zip(LOSSES, self.trained("gspo"))]
        self.assertAlmostEqual(sum(means) / 2, SUM)

    def test_takes_limits_away_where_there_are_none(self) -> None:
        loss = actor_loss(Loss("importance_sampling", 0.2, 0.2))
        # Ratios are at most e^20.
        self.assertEqual((loss.loss_mode, loss.clip_ratio_low), ("vanilla", 1.0))
        self.assertGreater(loss.clip_ratio_high, 2.718281828**20)
        self.assertEqual(actor_loss(Loss("ppo", dual_clip=3.0)).clip_ratio_c, 3.0)

    def test_refuses_a_loss_without_a_counterpart(self) -> None:
        with self.assertRaisesRegex(UnsupportedError, "no loss that equals 'gmpo'"):
            actor_loss(Loss("gmpo"))


class MetricsTest(unittest.TestCase):
    def test_reduces_lists_and_names_them(self) -> None:
        metrics = own_metrics({"loss": [[1.0, 3.0], [2.0]], "perf/max_memory": [1, 5], "grad_norm": 0.5, "mfu": "?"})
        self.assertEqual(metrics["loss"], 2.0)
        self.assertEqual(metrics["verl/perf/max_memory"], 5.0)
        self.assertEqual(metrics["grad_norm"], 0.5)
        self.assertNotEqual(metrics["mfu"], metrics["mfu"])


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
