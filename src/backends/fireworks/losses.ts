/** Maps our losses to the service's: those with the same formula; the trainer computes the others. */
import { backendsThat, capabilityMatrix } from "../../core/capabilities.ts";
import { UnsupportedOptionError } from "../../core/errors.ts";
import type { LossName, LossSpec } from "../../core/loss/loss.ts";

export interface FireworksLoss {
  readonly name: LossName;
  readonly config: Readonly<Record<string, number>>;
}

/** @throws UnsupportedOptionError for what the service does not compute. */
export function fireworksLoss(loss: LossSpec): FireworksLoss {
  const { name, epsClip, epsClipHigh, dualClip = null, entropyCoef = 0 } = loss;
  if (!capabilityMatrix.fireworks.losses.includes(name))
    throw refused("algorithm.loss", name, ({ losses }) => losses.includes(name));
  if (dualClip !== null)
    throw refused("algorithm.loss.clip_ratio_c", dualClip, (row) => row.dualClip === true);
  if (entropyCoef !== 0)
    throw refused("algorithm.entropy_coef", entropyCoef, (row) => row.entropyBonus === true);
  // The service's thresholds are bounds of the ratio; ours are distances from 1.
  const clips = name === "ppo" || name === "cispo";
  const bounds = { clip_low_threshold: 1 - epsClip, clip_high_threshold: 1 + epsClipHigh };
  return { name, config: clips ? bounds : {} };
}

function refused(
  option: string,
  value: unknown,
  supported: Parameters<typeof backendsThat>[0],
): UnsupportedOptionError {
  return new UnsupportedOptionError(option, value, "fireworks", backendsThat(supported));
}
