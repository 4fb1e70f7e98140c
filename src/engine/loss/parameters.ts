/**
 * The numbers of a loss as scalar inputs of its graph: a schedule may change them at every step
 * without a new session.
 */
import type { LossSpec } from "../../core/loss/loss.ts";
import type { Graph, Value } from "../graph/graph.ts";
import type { Tensor } from "../runtime.ts";
import { lossNumbers } from "./check-numbers.ts";

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
  const values = lossNumbers(spec);
  return Object.fromEntries(
    names.map((name) => [inputName(name), { data: Float32Array.of(values[name]), shape: [] }]),
  );
}
