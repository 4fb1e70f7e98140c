/**
 * The numbers of a loss as scalar inputs of its graph: a schedule may change them at every step
 * without a new session.
 */
import { ConfigError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { Graph, Value } from "../graph/graph.ts";
import type { Tensor } from "../runtime.ts";

const names = [
  "lowestRatio",
  "highestRatio",
  "lowestLogRatio",
  "highestLogRatio",
  "dualClip",
  "droBeta",
  "sapoTauPositive",
  "sapoTauNegative",
  "klCoef",
  "entropyCoef",
] as const;
type ParameterName = (typeof names)[number];

/** Scalars. */
export type LossParameters = Readonly<Record<ParameterName, Value>>;

const inputName = (name: ParameterName): string => `loss:${name}`;

export function declareLossParameters(graph: Graph): LossParameters {
  return Object.fromEntries(
    names.map((name) => [name, graph.input(inputName(name), "float32", [])]),
  ) as Record<ParameterName, Value>;
}

/** @throws ConfigError naming the option that is out of bounds. */
export function lossParameterTensors(spec: LossSpec): Record<string, Tensor> {
  const values = parameterValues(spec);
  return Object.fromEntries(
    names.map((name) => [inputName(name), { data: Float32Array.of(values[name]), shape: [] }]),
  );
}

function parameterValues(spec: LossSpec): Record<ParameterName, number> {
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
