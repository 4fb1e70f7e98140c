/** Tripwires: numbers of an update that say the policy is running away. Knows no backend. */
import type { MeasuredMetric, UpdateMetrics } from "../core/backend.ts";
import { AgentTrainerError, NumericsError } from "../core/errors.ts";
import type { TrainConfig } from "./config/train-config.ts";

type Guards = TrainConfig["guards"];

type GuardName = "gradNorm" | "kl" | "ratio";
/** The metric that each limit is held against. */
export const guardMetrics: Readonly<Record<GuardName, MeasuredMetric>> = {
  gradNorm: "grad_norm",
  kl: "kl_k3",
  ratio: "ratio_mean",
};

export const guardNames: readonly GuardName[] = ["gradNorm", "kl", "ratio"];
export const guardOptions: Readonly<Record<GuardName, string>> = {
  gradNorm: "guards.grad_norm",
  kl: "guards.kl",
  ratio: "guards.ratio",
};

/** A limit that was passed. */
export interface Trip {
  readonly option: string;
  readonly metric: string;
  readonly value: number;
  readonly limit: number;
}

const isBeyond = (name: GuardName, value: number, limit: number): boolean =>
  value > limit || (name === "ratio" && value < 1 / limit);

/** What an update tripped; limits whose metric the backend left out say nothing. */
export function tripped(metrics: UpdateMetrics, guards: Guards): Trip[] {
  return guardNames.flatMap((name) => {
    const metric = guardMetrics[name];
    const limit = guards[name];
    const value = metrics[metric];
    if (limit === null || value === undefined || !isBeyond(name, value, limit)) return [];
    return [{ option: guardOptions[name], metric: `train/${metric}`, value, limit }];
  });
}

export const describeTrip = ({ option, metric, value, limit }: Trip): string =>
  `${metric} is ${Number(value.toPrecision(4))}, beyond ${option}=${limit}.`;

export function tripError(trips: readonly Trip[]): AgentTrainerError {
  return new AgentTrainerError({
    code: "TRIPWIRE",
    message: trips.map(describeTrip).join(" "),
    hint: "Lower the learning rate or the number of updates per step, then resume from the last checkpoint; or set guards.action=warn.",
    fields: { trips },
  });
}

/** @throws NumericsError for a metric that is no finite number: the update has been applied by then. */
export function checkFinite(metrics: UpdateMetrics): void {
  for (const [key, value] of Object.entries(metrics)) {
    if (!Number.isFinite(value)) throw new NumericsError(key, value);
  }
}
