/**
 * The lineages of a trajectory: chains of calls, each of which begins with the whole call before it, id by id.
 * Compaction, a fork or a sub-agent begins a new one; each becomes one training row.
 */
import { commonWithCall, continuesCall } from "../util/token-prefix.ts";
import type { Step } from "./trajectory.ts";

export const boundaryBreaks = [
  "prompt_changed",
  "response_changed",
  "branched",
  "prompt_shorter",
  "temperature_changed",
] as const;
/**
 * Where a prompt diverged from the sequence before it. `prompt_changed`: inside the first prompt (a fresh
 * conversation, or a template that rewrites the past). `response_changed`: inside sampled tokens (re-encoded, or thinking
 * stripped). `branched`: in later context, after at least one response. `prompt_shorter`: nowhere, the prompt
 * ended first. `temperature_changed`: nowhere, but it was sampled at another temperature.
 */
export type BoundaryBreak = (typeof boundaryBreaks)[number];

/** Steps where each prompt starts with the previous step's prompt and response. Never empty. */
export type Lineage = readonly Step[];

export interface Lineages {
  /** In the order of their first steps. */
  readonly lineages: readonly Lineage[];
  readonly breaks: Readonly<Record<BoundaryBreak, number>>;
}

function classifyBreak(prompt: Int32Array, lineage: Lineage): BoundaryBreak {
  const first = lineage[0]?.trace;
  const last = lineage.at(-1)?.trace;
  if (first === undefined || last === undefined) return "prompt_changed";
  if (continuesCall(prompt, last)) return "temperature_changed";
  const difference = commonWithCall(prompt, last);
  if (difference === prompt.length) return "prompt_shorter";
  if (difference < first.promptIds.length) return "prompt_changed";
  const inResponse = lineage.some(
    ({ trace }) =>
      difference >= trace.promptIds.length &&
      difference < trace.promptIds.length + trace.responseIds.length,
  );
  return inResponse ? "response_changed" : "branched";
}

const noBreaks: Readonly<Record<BoundaryBreak, number>> = {
  prompt_changed: 0,
  response_changed: 0,
  branched: 0,
  prompt_shorter: 0,
  temperature_changed: 0,
};

const lengthOf = ({ trace }: Step): number => trace.promptIds.length + trace.responseIds.length;

/** Of the lineages that `step` extends, the one with most of its prompt, and of equal ones the latest. */
function extendedBy<L extends Lineage>(
  step: Step,
  lineages: readonly L[],
  temperatureOf: (step: Step) => number,
): L | undefined {
  let longest = -1;
  let found: L | undefined;
  for (let i = lineages.length - 1; i >= 0; i--) {
    const last = lineages[i]!.at(-1)!;
    const length = lengthOf(last);
    if (length <= longest || temperatureOf(last) !== temperatureOf(step)) continue;
    if (!continuesCall(step.trace.promptIds, last.trace)) continue;
    longest = length;
    found = lineages[i];
  }
  return found;
}

/**
 * Every step ends up in exactly one lineage; interleaved conversations become one each and not one per call.
 * Steps of a lineage have the same `temperatureOf`.
 */
export function findLineages(
  steps: readonly Step[],
  temperatureOf: (step: Step) => number,
): Lineages {
  if (steps.length === 1) return { lineages: [steps], breaks: noBreaks };
  const lineages: Step[][] = [];
  const breaks = { ...noBreaks };
  let running: Step[] | undefined;
  for (const step of steps) {
    const extended = extendedBy(step, lineages, temperatureOf);
    if (extended !== undefined) {
      extended.push(step);
      running = extended;
      continue;
    }
    if (running !== undefined) breaks[classifyBreak(step.trace.promptIds, running)]++;
    running = [step];
    lineages.push(running);
  }
  return { lineages, breaks };
}
