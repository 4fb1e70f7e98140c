/** Maps our losses to those of the protocol: names and thresholds, and what a service does not compute. */
import { backendsThat, capabilityMatrix } from "../../core/capabilities.ts";
import { UnsupportedOptionError } from "../../core/errors.ts";
import type { LossName, LossSpec } from "../../core/loss/loss.ts";

export interface DatumLoss {
  readonly name: LossName;
  readonly config: Readonly<Record<string, number>>;
}

/** @throws UnsupportedOptionError for what the service does not compute. */
export function datumLoss(backend: "tinker" | "fireworks", loss: LossSpec): DatumLoss {
  const { name, dualClip = null, entropyCoef = 0 } = loss;
  const refused = (
    option: string,
    value: unknown,
    supported: Parameters<typeof backendsThat>[0],
  ): UnsupportedOptionError =>
    new UnsupportedOptionError(option, value, backend, backendsThat(supported));
  if (!capabilityMatrix[backend].losses.includes(name))
    throw refused("algorithm.loss", name, ({ losses }) => losses.includes(name));
  if (dualClip !== null)
    throw refused("algorithm.loss.clip_ratio_c", dualClip, (row) => row.dualClip === true);
  if (entropyCoef !== 0)
    throw refused("algorithm.entropy_coef", entropyCoef, (row) => row.entropyBonus === true);
  return { name, config: configOf(loss) };
}

/** The services' thresholds are bounds of the ratio; ours are distances from 1. */
function configOf({ name, epsClip, epsClipHigh, droBeta = 0.05 }: LossSpec): DatumLoss["config"] {
  switch (name) {
    case "ppo":
    case "cispo":
      return { clip_low_threshold: 1 - epsClip, clip_high_threshold: 1 + epsClipHigh };
    case "dro":
      return { beta: droBeta };
    default:
      return {};
  }
}
