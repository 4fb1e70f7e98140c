/** What a Tinker server does where servers differ, found out by probing it, and what the backend supports then. */
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import type { LossName } from "../../core/loss/loss.ts";
import type { Datum, ForwardBackwardOutput } from "../../tinker-api/messages.ts";
import { createFloatTensor, createIdTensor } from "../../tinker-api/codec/tensor.ts";
import { TinkerError } from "../../tinker-api/tinker-error.ts";
import type { ServerTraits } from "../datum/server-traits.ts";
import type { TrainingClient } from "../../tinker-api/training-client.ts";

/** Arbitrary small ids: every model has them. */
const probeTokens = Int32Array.of(5, 6, 7, 8, 9);
const tolerance = 1e-3;

function probe(inputs: Readonly<Record<string, readonly number[]>>): Datum {
  const floats = Object.entries(inputs).map(
    ([name, values]) => [name, createFloatTensor(Float32Array.from(values))] as const,
  );
  const tokens = probeTokens.slice(0, -1);
  const targets = createIdTensor(probeTokens.slice(1));
  return { tokens, lossInputs: { target_tokens: targets, ...Object.fromEntries(floats) } };
}

function sum(values: ArrayLike<number>): number {
  return Array.from(values).reduce((total, value) => total + value, 0);
}

/** The summed loss, by the server's metrics or by its losses per token; null when it reports neither. */
function summedLoss({ metrics, outputs }: ForwardBackwardOutput): number | null {
  const metric = metrics["loss:sum"] ?? metrics["total_loss:sum"];
  if (metric !== undefined) return metric;
  const elements = outputs[0]?.["elementwise_loss"];
  return elements === undefined ? null : sum(elements.data);
}

function isNear(value: number | null, expected: number): boolean {
  return (
    value !== null && Math.abs(value - expected) <= tolerance * Math.max(1, Math.abs(expected))
  );
}

function logprobsOf(output: ForwardBackwardOutput): Float32Array {
  const found = output.outputs[0]?.["logprobs"];
  if (found?.dtype === "float32") return found.data;
  throw new TinkerError({ message: "The server returns no logprobs of a forward pass." });
}

/** Forward passes only: neither weights nor moments change. */
export async function probeServer(
  model: TrainingClient,
  signal: AbortSignal,
): Promise<ServerTraits> {
  const weights = [1, 0.5, 0, 1];
  const output = await model.forward([probe({ weights })], "cross_entropy", {}, { signal });
  const logprobs = logprobsOf(output);
  const expected = -weights.reduce((total, w, i) => total + w * logprobs[i]!, 0);
  const metric = output.metrics["loss:sum"] ?? output.metrics["total_loss:sum"];
  if (metric === undefined && output.outputs[0]?.["elementwise_loss"] !== undefined)
    return {
      reduction: "sequence-mean",
      weighsPolicyLosses: false,
      // So does the one server that averages like this, SkyRL's on JAX. Probing it would cost
      // training.
      samplesWhatIsTrained: true,
    };
  if (metric !== undefined && !isNear(metric, expected))
    throw new TinkerError({
      message: `The server's cross_entropy of a probe is ${metric}, but its sum is ${expected}: it averages in a way that is not known here.`,
      hint: "Use a server that sums token losses, as the Tinker service does.",
      fields: { metric, expected },
    });
  return {
    reduction: "sum",
    weighsPolicyLosses: await weighsPolicyLosses(model, logprobs, signal),
    samplesWhatIsTrained: false,
  };
}

async function weighsPolicyLosses(
  model: TrainingClient,
  logprobs: Float32Array,
  signal: AbortSignal,
): Promise<boolean> {
  const datum = probe({
    logprobs: Array.from(logprobs),
    advantages: [1, 1, 1, 1],
    weights: [1, 0, 0, 0.5],
  });
  try {
    const output = await model.forward([datum], "importance_sampling", {}, { signal });
    return isNear(summedLoss(output), -1.5);
  } catch (error) {
    // A server may refuse what it does not know.
    if (error instanceof TinkerError) return false;
    throw error;
  }
}

/**
 * Whether the server clips ratios to these bounds.
 * @returns null when it does; else what it did with a ratio above the upper bound.
 */
export async function probeClipping(
  model: TrainingClient,
  lossFn: "ppo" | "cispo",
  bounds: { readonly low: number; readonly high: number },
  signal?: AbortSignal,
): Promise<number | null> {
  const options = signal === undefined ? {} : { signal };
  const plain = await model.forward(
    [probe({ weights: [0, 0, 0, 0] })],
    "cross_entropy",
    {},
    options,
  );
  const logprobs = logprobsOf(plain);
  const shift = Math.log(bounds.high + 1);
  const datum = probe({
    logprobs: Array.from(logprobs, (l) => l - shift),
    advantages: [1, 1, 1, 1],
  });
  const config = { clip_low_threshold: bounds.low, clip_high_threshold: bounds.high };
  const found = summedLoss(await model.forward([datum], lossFn, config, options));
  // Each token's loss is -ratio, for cispo times its logprob.
  const perRatio = lossFn === "ppo" ? -logprobs.length : -sum(logprobs);
  if (found === null || isNear(found / perRatio, bounds.high)) return null;
  return found / perRatio;
}

/** Losses that the server would compute differently; the trainer computes them instead. */
function unusable(traits: ServerTraits): readonly LossName[] {
  return [
    // Its quadratic term ignores advantages, so prompts would count without weights.
    ...(traits.weighsPolicyLosses ? [] : (["dro"] as const)),
    // A mean over the weights of each sequence is a different loss than most aggregations request.
    ...(traits.reduction === "sum" ? [] : (["cross_entropy"] as const)),
  ];
}

/**
 * What this backend supports on one server: its row of the capability matrix, without what that server
 * does differently.
 * @param traits null before the server has been probed.
 */
export function capabilitiesOn(traits: ServerTraits | null): BackendCapabilities {
  const row = capabilityMatrix.tinker;
  if (traits === null) return row;
  const without = unusable(traits);
  return {
    ...row,
    losses: row.losses.filter((name) => !without.includes(name)),
    // Its adapter is the one that is sampled from.
    adapters: row.adapters === true && !traits.samplesWhatIsTrained,
    // Samples in flight would continue with weights that are being changed.
    servesWhileTraining: row.servesWhileTraining === true && !traits.samplesWhatIsTrained,
  };
}
