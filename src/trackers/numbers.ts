/** The numbers of an event, under the names that trackers show. */
import type { TrainerEvent, TrainerEventType } from "../core/events.ts";

/** Events that carry numbers. */
export const numberEvents: readonly TrainerEventType[] = ["step-end", "validation-end"];

/** Metrics of a step or a validation that are finite; undefined for other events. */
export function numbersOf(event: TrainerEvent): readonly (readonly [string, number])[] | undefined {
  if (event.type !== "step-end" && event.type !== "validation-end") return undefined;
  return Object.entries(event.metrics).filter(([, value]) => Number.isFinite(value));
}
