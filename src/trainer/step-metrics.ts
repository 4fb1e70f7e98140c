/** Metrics that every step has, whatever it trained on. */
import type { UpdateMetrics } from "../core/backend.ts";
import type { LoopContext } from "./loop-context.ts";

export const secondsSince = (start: number): number => (performance.now() - start) / 1000;

/** The engine's own metrics, and the fraction of the step in which it was idle. */
function engineMetrics(numbers: UpdateMetrics, wallS: number): Record<string, number> {
  const { "engine/busy_s": busyS, ...rest } = numbers;
  if (busyS === undefined) return rest;
  return {
    ...rest,
    "time/engine_busy_s": busyS,
    "time/outside_engine_fraction": wallS > 0 ? Math.max(0, 1 - busyS / wallS) : 0,
  };
}

export interface StepFacts {
  readonly step: number;
  /** Batches of tasks begun so far. */
  readonly batches: number;
  /** Duration of the step in seconds. */
  readonly wallS: number;
}

/** Reads the backend's metrics since the last call. */
export async function stepMetrics(
  context: LoopContext,
  { step, batches, wallS }: StepFacts,
): Promise<Record<string, number>> {
  return {
    ...engineMetrics((await context.backend.metrics?.()) ?? {}, wallS),
    "time/step_s": wallS,
    "progress/step": step,
    "progress/done_fraction": step / context.totalSteps,
    "progress/epoch": context.batches.cursor(batches).epoch,
  };
}
