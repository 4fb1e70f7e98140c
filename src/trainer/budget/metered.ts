/** Counts what a backend does for a run: prompts and samples where they are requested, rows where they are trained. */
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { overlay } from "../../core/overlay.ts";
import type { Sampler } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createMemoryTraceStore, type TraceStore } from "../../gateway/index.ts";
import type { Budget } from "./budget.ts";

const lengthOf = (rows: readonly TrainingRow[]): number =>
  rows.reduce((sum, { tokens }) => sum + tokens.length, 0);

function meteredSampler(sampler: Sampler, budget: Budget): Sampler {
  return overlay(sampler, {
    async sample(request) {
      const samples = await sampler.sample(request);
      const sampled = samples.reduce((sum, { tokens }) => sum + tokens.length, 0);
      budget.add({ prompt: request.tokens.length * (request.n ?? 1), sampled });
      return samples;
    },
  });
}

/** The same target; calls of inference servers are counted by {@link meteredStore}. */
export function meteredTarget(target: InferenceTarget, budget: Budget): InferenceTarget {
  if (target.kind === "http") return target;
  return overlay(target, { sampler: meteredSampler(target.sampler, budget) });
}

/**
 * The same store: counts every choice of every call that is captured, also of rollouts that were cut off or
 * tried again. For a target whose requests are not seen.
 */
export function meteredStore(store: TraceStore, budget: Budget): TraceStore {
  return overlay(store, {
    append(traces) {
      for (const { promptIds, responseIds, usage } of traces)
        budget.add({
          prompt: usage?.promptTokens ?? promptIds.length,
          sampled: usage?.completionTokens ?? responseIds.length,
        });
      return store.append(traces);
    },
  });
}

/** What a rollout service needs, so that all of its tokens are counted. */
export const meteredService = (
  target: InferenceTarget,
  budget: Budget,
): { readonly target: InferenceTarget; readonly store?: TraceStore } => ({
  target: meteredTarget(target, budget),
  ...(target.kind === "http" ? { store: meteredStore(createMemoryTraceStore(), budget) } : {}),
});

/** The same backend. A penalty on the KL divergence takes a second pass, of the reference. */
export function meteredBackend(backend: TrainingBackend, budget: Budget): TrainingBackend {
  return overlay(backend, {
    async updatePolicy(rows, loss, ...rest) {
      const metrics = await backend.updatePolicy(rows, loss, ...rest);
      budget.add({ trained: lengthOf(rows) * (loss.kl ? 2 : 1) });
      return metrics;
    },
    async forward(rows, which, signal) {
      const logprobs = await backend.forward!(rows, which, signal);
      budget.add({ trained: lengthOf(rows) });
      return logprobs;
    },
    async entropies(rows, signal) {
      const entropies = await backend.entropies!(rows, signal);
      budget.add({ trained: lengthOf(rows) });
      return entropies;
    },
  });
}
