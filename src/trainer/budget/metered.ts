/** Counts what a backend does for a run: prompts and samples where they are requested, rows where they are trained. */
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { overlay } from "../../core/overlay.ts";
import type { Sampler } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Episode } from "../../core/trajectory.ts";
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

/** The same target; calls of inference servers are counted by {@link meterEpisodes}. */
export function meteredTarget(target: InferenceTarget, budget: Budget): InferenceTarget {
  if (target.kind === "http") return target;
  return overlay(target, { sampler: meteredSampler(target.sampler, budget) });
}

/** Counts the calls of rollouts, for a target whose requests are not seen. */
export function meterEpisodes(
  target: InferenceTarget,
  budget: Budget,
): (episodes: readonly Episode[]) => void {
  if (target.kind !== "http") return () => undefined;
  return (episodes) => {
    for (const { trajectories } of episodes)
      for (const { steps } of trajectories)
        for (const { trace } of steps)
          budget.add({ prompt: trace.promptIds.length, sampled: trace.responseIds.length });
  };
}

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
