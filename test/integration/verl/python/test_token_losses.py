"""The bridge's losses in torch against verl's own, and against numbers that verl 0.8 computed."""

from __future__ import annotations

import unittest
from typing import Any

import torch
from agent_trainer_bridge.loss import Loss
from agent_trainer_bridge.verl_engine.objective import gaps, token_objective
from verl.trainer.ppo.core_algos import get_policy_loss_fn, kl_penalty
from verl.workers.config import ActorConfig

MASK = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 0]], dtype=torch.float32)
OLD = torch.tensor([[-1, -2, -0.5, -1.5], [-0.7, -0.3, -2.2, -1.1], [-1.2, -0.9, -0.4, -0.1]])
NEW = [[-0.9, -2.4, -0.2, -1.5], [-0.7, -0.9, -0.9, -1.0], [-2.6, -0.6, -0.45, -0.3]]
ADVANTAGES = torch.tensor([[1.0], [-0.5], [2.0]]) * MASK
WEIGHTS = torch.tensor([[1, 0.5, 2, 1], [1, 1, 1, 0.25], [0.8, 1.2, 1, 1]])
TOKEN_MEAN = MASK / MASK.sum()
ROW_MEAN = MASK / MASK.sum(1, keepdim=True) / 3
# Each: loss of ours, verl's name, how tokens add up, value by verl 0.8.
PUBLISHED = [
    (Loss("ppo", 0.2, 0.28, 3.0), "vanilla", TOKEN_MEAN, -0.645856),
    (Loss("ppo", 0.2, 0.28, 3.0), "vanilla", ROW_MEAN, -0.604965),
    (Loss("gspo", 0.2, 0.28), "gspo", ROW_MEAN, -0.521945),
    (Loss("sapo", sapo_tau_negative=1.05), "sapo", ROW_MEAN, -1.499572),
    (Loss("cispo", 0.2, 0.28), "cispo", TOKEN_MEAN, 0.974417),
    (Loss("gmpo", 0.2, 0.28), "geo_mean", ROW_MEAN, -0.517264),
    (Loss("dro", dro_beta=0.1), None, TOKEN_MEAN, 1.120063),
]
DISTANCES = [("k1", 0.025), ("k2", 0.200625), ("k3", 0.241214)]


def new() -> torch.Tensor:
    return torch.tensor(NEW, requires_grad=True)


def ours(loss: Loss, now: torch.Tensor, factors: torch.Tensor, weights: torch.Tensor, **more: Any) -> torch.Tensor:
    columns = {
        "response_mask": MASK,
        "old_log_probs": OLD,
        "advantages": ADVANTAGES,
        "rollout_is_weights": weights,
        "factors": factors,
        **more,
    }
    entropy = now.exp() if loss.entropy_coef else None
    return token_objective(vars(loss), columns, now, entropy)[0].sum()


def config_of(loss: Loss) -> ActorConfig:
    return ActorConfig(
        strategy="fsdp2",
        rollout_n=1,
        use_dynamic_bsz=True,
        clip_ratio_low=loss.eps_clip,
        clip_ratio_high=loss.eps_clip_high,
        clip_ratio_c=1e9 if loss.dual_clip is None else loss.dual_clip,
        tau_pos=loss.sapo_tau_positive,
        tau_neg=loss.sapo_tau_negative,
    )


class TokenLossesTest(unittest.TestCase):
    def test_has_the_values_of_verl(self) -> None:
        for loss, _, factors, value in PUBLISHED:
            with self.subTest(loss.name):
                self.assertAlmostEqual(float(ours(loss, new(), factors, MASK)), value, 5)

    def test_has_the_values_and_gradients_of_the_verl_that_is_installed(self) -> None:
        for loss, name, factors, _ in PUBLISHED:
            if name is None:
                continue
            for weights in (MASK, WEIGHTS):
                with self.subTest(loss.name, weighted=weights is WEIGHTS):
                    here, there = new(), new()
                    value = ours(loss, here, factors, weights)
                    expected, _ = get_policy_loss_fn(name)(
                        old_log_prob=OLD,
                        log_prob=there,
                        advantages=ADVANTAGES,
                        response_mask=MASK,
                        loss_agg_mode="token-mean" if factors is TOKEN_MEAN else "seq-mean-token-mean",
                        config=config_of(loss),
                        rollout_is_weights=None if weights is MASK else weights,
                    )
                    value.backward()
                    expected.backward()
                    self.assertAlmostEqual(float(value), float(expected), 5)
                    torch.testing.assert_close(here.grad * MASK, there.grad * MASK, atol=1e-6, rtol=1e-5)

    def test_is_finite_far_from_the_policy_that_sampled_and_there_as_verl_is(self) -> None:
        for log_ratio in (100.0, -100.0):
            for loss, name, factors, _ in PUBLISHED:
                with self.subTest(loss.name, log_ratio=log_ratio):
                    here = (OLD + log_ratio).requires_grad_()
                    value = ours(loss, here, factors, MASK)
                    value.backward()
                    self.assertTrue(bool(torch.isfinite(value)))
                    self.assertTrue(bool(torch.isfinite(here.grad).all()))
                    # verl limits neither; ours are limited as verl's others.
                    if name in (None, "geo_mean"):
                        continue
                    there = (OLD + log_ratio).requires_grad_()
                    expected, _ = get_policy_loss_fn(name)(
                        old_log_prob=OLD,
                        log_prob=there,
                        advantages=ADVANTAGES,
                        response_mask=MASK,
                        loss_agg_mode="token-mean" if factors is TOKEN_MEAN else "seq-mean-token-mean",
                        config=config_of(loss),
                        rollout_is_weights=None,
                    )
                    expected.backward()
                    torch.testing.assert_close(value, expected, atol=1e-6, rtol=1e-5)
                    torch.testing.assert_close(here.grad * MASK, there.grad * MASK, atol=1e-6, rtol=1e-5)

    def test_measures_finite_ratios_far_from_the_policy_that_sampled(self) -> None:
        for name, values in gaps(OLD + 1000, OLD).items():
            self.assertTrue(bool(torch.isfinite(values).all()), name)

    def test_has_the_distances_of_verl(self) -> None:
        for estimator, value in DISTANCES:
            with self.subTest(estimator):
                loss = Loss("importance_sampling", kl_coef=0.5, kl_estimator=estimator)
                here, there = new(), new()
                # Weights of the policy loss leave the distance alone.
                total = ours(loss, here, TOKEN_MEAN, torch.zeros_like(MASK), ref_log_prob=OLD)
                self.assertAlmostEqual(float(total), 0.5 * value, 5)
                expected = 0.5 * (kl_penalty(there, OLD, estimator) * TOKEN_MEAN).sum()
                total.backward()
                self.assertAlmostEqual(float(total), float(expected), 5)
                if estimator != "k1":
                    expected.backward()
                    torch.testing.assert_close(here.grad, there.grad, atol=1e-6, rtol=1e-5)

    def test_takes_entropy_off_the_loss(self) -> None:
        plain, joined = new(), new()
        without = ours(Loss("ppo"), plain, TOKEN_MEAN, MASK)
        total = ours(Loss("ppo", entropy_coef=0.3), joined, TOKEN_MEAN, MASK)
        self.assertAlmostEqual(float(without - total), 0.3 * float((plain.exp() * TOKEN_MEAN).sum()), 6)

    def test_measures_the_gap_as_verl_does(self) -> None:
        measured = {name: float((values * TOKEN_MEAN).sum()) for name, values in gaps(new(), OLD).items()}
        # verl's ppo_kl on the same numbers.
        self.assertAlmostEqual(measured["kl_k1"], -0.025, 6)
        self.assertAlmostEqual(measured["logprob_abs_diff_mean"], 0.395, 6)


if __name__ == "__main__":
    unittest.main()
