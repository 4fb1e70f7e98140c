/** The numbers of a loss, and their bounds. */
import { ConfigError } from "../errors.ts";
import type { LossSpec } from "./loss.ts";

/** What the options of a loss mean in its formulas. */
type LossNumbers = Readonly<
  Record<
    | "lowestRatio"
    | "highestRatio"
    | "lowestLogRatio"
    | "highestLogRatio"
    | "dualClip"
    | "droBeta"
    | "sapoTauPositive"
    | "sapoTauNegative"
    | "klCoef"
    | "entropyCoef",
    number
  >
>;

/** @throws ConfigError naming the option that is out of bounds. */
export function checkLossNumbers(spec: LossSpec): void {
  lossNumbers(spec);
}

/** @throws ConfigError naming the option that is out of bounds. */
function lossNumbers(spec: LossSpec): LossNumbers {
  const from = (option: string, value: number, lowest: number, isOpen = false): number => {
    if (value > lowest || (!isOpen && value === lowest)) return value;
    throw new ConfigError({
      message: `The loss "${spec.name}" has ${option} ${value}, but it must be ${isOpen ? "above" : "at least"} ${lowest}.`,
      fields: { option, value },
    });
  };
  const epsClip = from("epsClip", spec.epsClip, 0);
  const epsClipHigh = from("epsClipHigh", spec.epsClipHigh, 0);
  return {
    lowestRatio: 1 - epsClip,
    highestRatio: 1 + epsClipHigh,
    lowestLogRatio: -epsClip,
    highestLogRatio: epsClipHigh,
    dualClip: from("dualClip", spec.dualClip ?? Infinity, 1, true),
    droBeta: from("droBeta", spec.droBeta ?? 0.05, 0, true),
    sapoTauPositive: from("sapoTauPositive", spec.sapoTauPositive ?? 1, 0, true),
    sapoTauNegative: from("sapoTauNegative", spec.sapoTauNegative ?? 1.05, 0, true),
    klCoef: from("kl.coef", spec.kl?.coef ?? 0, 0),
    entropyCoef: spec.entropyCoef ?? 0,
  };
}
