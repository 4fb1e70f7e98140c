"""The toy policy against published numbers and finite differences."""

from __future__ import annotations

import math
import random
import unittest

from tests.fake.gradient import gradient_of, token_kl, token_loss
from tests.fake.policy import VOCABULARY, Policy
from agent_trainer_bridge.loss import Loss

from .rows_of import row_of

# verl's vanilla loss with clip 0.2 and 0.28 and dual clip 3, computed by verl itself: log-probability
# before and now, advantage, loss, derivative.
PUBLISHED = [
    (-1.0, -0.9, 1.0, -1.105171, -1.105171),
    (-2.0, -2.4, 1.0, -0.67032, -0.67032),
    (-0.5, -0.2, 1.0, -1.28, 0.0),
    (-0.7, -0.7, -0.5, 0.5, 0.5),
    (-2.2, -0.9, -0.5, 1.5, 0.0),
    (-1.1, -1.0, -0.5, 0.552585, 0.552585),
    (-1.2, -2.6, 2.0, -0.493194, -0.493194),
    (-0.9, -0.6, 2.0, -2.56, 0.0),
    (-0.4, -0.45, 2.0, -1.902459, -1.902459),
]


class GradientTest(unittest.TestCase):
    def test_has_the_loss_that_verl_has(self) -> None:
        loss = Loss("ppo", 0.2, 0.28, 3.0)
        for before, now, advantage, value, slope in PUBLISHED:
            self.assertAlmostEqual(token_loss(loss, now, before, advantage)[0], value, 5)
            self.assertAlmostEqual(token_loss(loss, now, before, advantage)[1], slope, 5)

    def test_limits_the_log_ratio_as_verl_does(self) -> None:
        for log_ratio in (100.0, 1000.0, -100.0):
            ratio = math.exp(math.copysign(20.0, log_ratio))
            clipped = min(max(ratio, 0.8), 1.2)
            for advantage in (1.0, -1.0):
                plain = token_loss(Loss("importance_sampling"), -1.0, -1.0 - log_ratio, advantage)
                self.assertEqual(plain, (-ratio * advantage, 0.0))
                ppo = token_loss(Loss("ppo"), -1.0, -1.0 - log_ratio, advantage)
                self.assertEqual(ppo, (max(-ratio * advantage, -clipped * advantage), 0.0))
        dual = token_loss(Loss("ppo", dual_clip=3.0), -1.0, -101.0, -1.0)
        self.assertEqual(dual, (3.0, 0.0))

    def test_measures_finite_numbers_far_from_the_policy_that_sampled(self) -> None:
        rows = [row_of([7, 9], [0, 1], [0, -1000.0], 1.0)]
        found = gradient_of(Policy(), rows, Loss("ppo"), Policy())
        self.assertTrue(all(math.isfinite(value) for value in [found.loss, found.norm, *found.means.values()]))
        self.assertAlmostEqual(found.means["ratio_mean"], math.exp(20))

    def test_has_the_distances_that_verl_has(self) -> None:
        # Log-probability now and of the reference, k3 and its derivative.
        for now, reference, value, slope in [(-0.9, -1.0, 0.004837, 0.095163), (-2.4, -2.0, 0.091825, -0.491825)]:
            self.assertAlmostEqual(token_kl("k3", now, reference)[0], value, 6)
            self.assertAlmostEqual(token_kl("k3", now, reference)[1], slope, 6)
        self.assertEqual(token_kl("k3", -60.0, -1.0), (10.0, 0.0))

    def test_agrees_with_finite_differences(self) -> None:
        draws = random.Random(3)
        policy = Policy({7: [draws.gauss(0, 1) for _ in range(VOCABULARY)]})
        rows = [row_of([7, 9], [0, 1], [0, -5.5], 1.5, 0.5, 0.7), row_of([7, 20], [0, 1], [0, -5.0], -0.7, 0.5)]
        rows.append(row_of([7, 9], [0, 1], [0, -4.5], 0.8, 0.4, 0.9, temperature=0.7))
        losses = [Loss("importance_sampling"), Loss("importance_sampling", entropy_coef=0.3)]
        losses += [Loss("importance_sampling", kl_coef=0.8, kl_estimator=name) for name in ("k1", "k2", "k3")]
        for loss in losses:
            exact = gradient_of(policy, rows, loss, Policy()).logits[7]
            for token in (9, 20, 100):
                values = []
                for shift in (1e-4, -1e-4):
                    moved = policy.copy()
                    moved.logits[7][token] += shift
                    values.append(gradient_of(moved, rows, loss, Policy()).loss)
                self.assertAlmostEqual(exact[token], (values[0] - values[1]) / 2e-4, 6)

    def test_is_that_of_the_policy_at_the_rows_temperature(self) -> None:
        # A policy of two tokens that count, and logits 2 and 0: at temperature 0.5 they are 4 and 0.
        policy = Policy({7: [2.0, 0.0] + [-1000.0] * (VOCABULARY - 2)})
        row = row_of([7, 0], [0, 1], [0, -1.0], temperature=0.5)
        found = gradient_of(policy, [row], Loss("importance_sampling"), Policy())
        chance = 1 / (1 + math.exp(-4))
        ratio = chance / math.exp(-1)
        self.assertAlmostEqual(found.loss, -ratio, 6)
        # dlog p / dlogit = (1 - p) / T.
        self.assertAlmostEqual(found.logits[7][0], -ratio * (1 - chance) / 0.5, 6)


if __name__ == "__main__":
    unittest.main()
