/** Limits on metrics of an update that detect a diverging run. */
import type { UpdateMetrics } from "../../core/backend.ts";
import { AgentTrainerError, NumericsError } from "../../core/errors.ts";
import {
  limitMetrics,
  type LimitName,
  type ExceededLimit,
  type UpdateLimits,
} from "../../core/loss/update-limits.ts";
import type { TrainConfig } from "../../config/train-config.ts";

type Guards = TrainConfig["guards"];

const guardOptions: Readonly<Record<LimitName, string>> = {
  gradNorm: "guards.grad_norm",
  kl: "guards.kl",
  ratio: "guards.ratio",
};

export const limitsOf = ({ gradNorm, kl, ratio }: Guards): UpdateLimits => ({
  gradNorm,
  kl,
  ratio,
});

export const describeLimit = ({ name, value, limit }: ExceededLimit): string =>
  `train/${limitMetrics[name]} is ${Number(value.toPrecision(4))}, beyond ${guardOptions[name]}=${limit}.`;

/** What became of the update that exceeded a limit, and of its step. */
export type LimitOutcome = "refused" | "refused-later" | "applied";

const outcomes: Readonly<Record<LimitOutcome, string>> = {
  refused: "The update was not applied; the step before it is saved.",
  "refused-later":
    "The update was not applied; the step ends with the updates before it and is saved.",
  applied: "The update had been applied by then; the step ends with it and is saved.",
};

export function limitExceededError(
  exceeded: readonly ExceededLimit[],
  outcome: LimitOutcome,
): AgentTrainerError {
  return new AgentTrainerError({
    code: "LIMIT_EXCEEDED",
    message: `${exceeded.map(describeLimit).join(" ")} ${outcomes[outcome]}`,
    hint: "Lower the learning rate or the number of updates per step, then resume; or set guards.action=warn.",
    fields: {
      outcome,
      limits: exceeded.map(({ name, value, limit }) => ({
        option: guardOptions[name],
        metric: `train/${limitMetrics[name]}`,
        value,
        limit,
      })),
    },
  });
}

/** @throws NumericsError for a metric that is not finite: the update has already been applied. */
export function checkFinite(metrics: UpdateMetrics): void {
  for (const [key, value] of Object.entries(metrics)) {
    if (!Number.isFinite(value)) throw new NumericsError(key, value);
  }
}
