/** Small data that every model takes, and what a server makes of it. */
import { createFloatTensor, createIdTensor } from "../../tinker-api/codec/tensor.ts";
import type { Datum, ForwardBackwardOutput } from "../../tinker-api/messages.ts";
import type { TrainingClient } from "../../tinker-api/training-client.ts";

/** Arbitrary small ids: every model has them. */
export const probeTokens: Int32Array = Int32Array.from({ length: 9 }, (_, i) => 5 + i);
/** Of targets. */
export const probeLength: number = probeTokens.length - 1;

export function datumOf(
  inputs: Readonly<Record<string, readonly number[]>>,
  tokens: Int32Array = probeTokens,
): Datum {
  const tensors = Object.entries(inputs).map(
    ([name, values]) => [name, createFloatTensor(Float32Array.from(values))] as const,
  );
  return {
    tokens: tokens.slice(0, -1),
    lossInputs: {
      target_tokens: createIdTensor(tokens.slice(1)),
      ...Object.fromEntries(tensors),
    },
  };
}

/** A list of the length of the targets. */
export function each(value: (index: number) => number): number[] {
  return Array.from({ length: probeLength }, (_, i) => value(i));
}

/** [targets] of the first datum; null where the server returns none. */
function logprobsOf({ outputs }: ForwardBackwardOutput): readonly number[] | null {
  const found = outputs[0]?.["logprobs"];
  return found?.dtype === "float32" ? Array.from(found.data) : null;
}

/** The server reports the loss of a batch itself, not only those of its tokens. */
export function hasSum({ metrics }: ForwardBackwardOutput): boolean {
  return (metrics["loss:sum"] ?? metrics["total_loss:sum"]) !== undefined;
}

/** The loss of a batch as the server reports it: a sum in its metrics, or its losses per token. */
export function reportedLoss({ metrics, outputs }: ForwardBackwardOutput): number | null {
  const metric = metrics["loss:sum"] ?? metrics["total_loss:sum"];
  if (metric !== undefined) return metric;
  const tensors = outputs.map((output) => output["elementwise_loss"]);
  if (tensors.some((tensor) => tensor?.dtype !== "float32")) return null;
  return tensors.reduce(
    (total, tensor) =>
      total + (tensor!.data as Float32Array).reduce((sum, value) => sum + value, 0),
    0,
  );
}

/** [targets] of the probe's tokens under the weights as they are now. */
export async function currentLogprobs(
  model: TrainingClient,
  signal: AbortSignal,
): Promise<readonly number[] | null> {
  const datum = datumOf({ weights: each(() => 1) });
  return logprobsOf(await model.forward([datum], "cross_entropy", {}, { signal }));
}

/** Equal but for rounding in 32 or 16 bits. */
export function isNear(value: number, expected: number, tolerance: number = 2e-2): boolean {
  return Math.abs(value - expected) <= tolerance * Math.max(0.05, Math.abs(expected));
}
