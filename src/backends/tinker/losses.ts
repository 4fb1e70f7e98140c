/** Maps our losses to Tinker's: names and thresholds, and what the API does not support. */
import { UnsupportedOptionError } from "../../core/errors.ts";
import { backendsThat, capabilityMatrix } from "../../core/capabilities.ts";
import type { LossName, LossSpec } from "../../core/loss/loss.ts";

export interface TinkerLoss {
  readonly name: LossName;
  readonly config: Readonly<Record<string, number>>;
}

/** @throws UnsupportedOptionError for what the API does not support. */
export function tinkerLoss(loss: LossSpec): TinkerLoss {
  const { name } = loss;
  const known = capabilityMatrix.tinker.losses;
  if (!known.includes(name))
    throw refused("algorithm.loss", name, ({ losses }) => losses.includes(name));
  if (loss.dualClip !== undefined && loss.dualClip !== null)
    throw refused(
      "algorithm.loss.clip_ratio_c",
      loss.dualClip,
      ({ dualClip }) => dualClip === true,
    );
  if ((loss.entropyCoef ?? 0) !== 0)
    throw refused(
      "algorithm.entropy_coef",
      loss.entropyCoef,
      ({ entropyBonus }) => entropyBonus === true,
    );
  return { name, config: configOf(loss) };
}

function refused(
  option: string,
  value: unknown,
  supported: Parameters<typeof backendsThat>[0],
): UnsupportedOptionError {
  return new UnsupportedOptionError(option, value, "tinker", backendsThat(supported));
}

/** Tinker's thresholds are bounds of the ratio; ours are distances from 1. */
function configOf(loss: LossSpec): Record<string, number> {
  switch (loss.name) {
    case "ppo":
    case "cispo":
      return {
        clip_low_threshold: 1 - loss.epsClip,
        clip_high_threshold: 1 + loss.epsClipHigh,
      };
    case "dro":
      return { beta: loss.droBeta ?? 0.05 };
    default:
      return {};
  }
}
