/**
 * How far rollouts may run ahead, and which of them a step must take so that none grows too stale.
 * Pure arithmetic.
 *
 * Weights are synced after every `every` steps; sync e comes before the steps e * every + 1 to
 * (e + 1) * every. A task begun after sync e may be trained on until sync e + bound, its deadline.
 * Two rules guarantee that without ever discarding rollouts:
 *
 * - A task begins only while fewer than (e + 1 + threshold) * every * tasksPerStep are begun or used,
 *   so tasks up to a deadline never outnumber the places left until then.
 * - A step leaves a task behind only if the places left until its deadline are enough for all that
 *   share it or come before; else it waits for the stragglers.
 */

export interface StalenessPlan {
  readonly tasksPerStep: number;
  /** Steps between two weight syncs. */
  readonly every: number;
  /** How far ahead rollouts may run, in weight syncs; may be a fraction. */
  readonly threshold: number;
  readonly totalSteps: number;
}

/** Anything that was begun; `since` is the weight sync before it. */
interface Begun {
  readonly since: number;
}

/** Weight syncs before step `step`, from 1. */
export const weightSyncsBefore = ({ every }: StalenessPlan, step: number): number =>
  Math.floor((step - 1) / every);

/** Maximum staleness of what is trained on, in weight syncs. */
export const stalenessBound = ({ threshold }: StalenessPlan): number => Math.ceil(threshold);

/** Whether another task may begin in step `step`. `begun`: all so far that were not dropped. */
export function mayBegin(plan: StalenessPlan, step: number, begun: number): boolean {
  const { tasksPerStep, every, threshold, totalSteps } = plan;
  const ahead = (weightSyncsBefore(plan, step) + 1 + threshold) * every * tasksPerStep;
  return begun < Math.min(totalSteps * tasksPerStep, Math.floor(ahead));
}

/**
 * What step `step` trains on, the oldest first, or null while it must wait: for enough tasks, or for
 * stragglers that would be too stale after it.
 */
export function chooseForStep<T extends Begun>(
  plan: StalenessPlan,
  step: number,
  ready: readonly T[],
  running: readonly Begun[],
): readonly T[] | null {
  const { tasksPerStep, every } = plan;
  const bound = stalenessBound(plan);
  const chosen = ready.toSorted((a, b) => a.since - b.since).slice(0, tasksPerStep);
  if (chosen.length < tasksPerStep) return null;
  const upTo = (list: readonly Begun[], deadline: number): number =>
    list.reduce((count, { since }) => count + (since + bound <= deadline ? 1 : 0), 0);
  if (running.length === 0) return chosen;
  for (const since of new Set([...ready, ...running].map((task) => task.since))) {
    const deadline = since + bound;
    const stepsAfter = (deadline + 1) * every - step;
    const due = upTo(ready, deadline) + upTo(running, deadline) - tasksPerStep * stepsAfter;
    if (upTo(chosen, deadline) < due) return null;
  }
  return chosen;
}
