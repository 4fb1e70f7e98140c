/** A loss as the bridge reads it. The other side is `python/agent_trainer_bridge/loss.py`. */
import type { LossSpec } from "../../core/loss/loss.ts";
import { defined } from "../../util/defined.ts";

/** Omitted fields have the bridge's defaults, which are those of `LossSpec`. */
export function encodeLoss(loss: LossSpec): Readonly<Record<string, unknown>> {
  const { dualClip, droBeta, sapoTauPositive, sapoTauNegative, kl, entropyCoef } = loss;
  return {
    name: loss.name,
    eps_clip: loss.epsClip,
    eps_clip_high: loss.epsClipHigh,
    dual_clip: dualClip ?? null,
    ...defined({
      dro_beta: droBeta,
      sapo_tau_positive: sapoTauPositive,
      sapo_tau_negative: sapoTauNegative,
    }),
    ...(kl ? { kl_coef: kl.coef, kl_estimator: kl.estimator } : {}),
    ...defined({ entropy_coef: entropyCoef }),
  };
}
