from __future__ import annotations

import unittest

from agent_trainer_bridge.errors import BadRequest
from agent_trainer_bridge.loss import Loss, check_loss


class LossTest(unittest.TestCase):
    def test_refuses_numbers_out_of_bounds_by_name(self) -> None:
        check_loss(Loss(dual_clip=3.0, kl_coef=0.0))
        for loss, name in [
            (Loss(eps_clip=-0.1), "eps_clip"),
            (Loss(eps_clip_high=float("nan")), "eps_clip_high"),
            (Loss(dual_clip=1.0), "dual_clip"),
            (Loss(dro_beta=0.0), "dro_beta"),
            (Loss(sapo_tau_negative=0.0), "sapo_tau_negative"),
            (Loss(kl_coef=-1.0), "kl_coef"),
            (Loss(kl_estimator="k4"), "kl_estimator"),
            (Loss(entropy_coef=float("inf")), "entropy_coef"),
        ]:
            with self.assertRaisesRegex(BadRequest, f"^{name} of the loss"):
                check_loss(loss)


if __name__ == "__main__":
    unittest.main()
