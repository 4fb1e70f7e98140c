/** A loss as the bridge reads it. The other side is `python/agent_trainer_bridge/loss.py`. */
import type { LossSpec } from "../../core/loss.ts";

/** Omitted fields have the bridge's defaults, which are those of `LossSpec`. */
export function encodeLoss(loss: LossSpec): Readonly<Record<string, unknown>> {
  const { dualClip, droBeta, sapoTauPositive, sapoTauNegative, kl, entropyCoef } = loss;
  return {
    name: loss.name,
    clip_low: loss.clipLow,
    clip_high: loss.clipHigh,
    dual_clip: dualClip ?? null,
    ...(droBeta === undefined ? {} : { dro_beta: droBeta }),
    ...(sapoTauPositive === undefined ? {} : { sapo_tau_positive: sapoTauPositive }),
    ...(sapoTauNegative === undefined ? {} : { sapo_tau_negative: sapoTauNegative }),
    ...(kl ? { kl_coef: kl.coef, kl_estimator: kl.estimator } : {}),
    ...(entropyCoef === undefined ? {} : { entropy_coef: entropyCoef }),
  };
}
