/**
 * Merges the steps of one trajectory into as few sequences as can be proven: a step joins a sequence
 * only when that sequence is an exact prefix of its prompt, id by id.
 */
import type { Step } from "../core/trajectory.ts";

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
export type StepChain = readonly Step[];

export interface StepChains {
  /** In the order of their first steps. */
  readonly chains: readonly StepChain[];
  readonly breaks: Readonly<Record<BoundaryBreak, number>>;
}

/** How many leading ids of `part` equal those of `whole` from `offset` on; `offset` is at most its length. */
function commonLength(part: Int32Array, whole: Int32Array, offset: number): number {
  const length = Math.min(part.length, whole.length - offset);
  for (let i = 0; i < length; i++) if (part[i] !== whole[offset + i]) return i;
  return length;
}

/** Whether `prompt` starts with the prompt and response of `step`. */
function extendsStep(prompt: Int32Array, step: Step): boolean {
  const { promptIds, responseIds } = step;
  return (
    commonLength(promptIds, prompt, 0) === promptIds.length &&
    commonLength(responseIds, prompt, promptIds.length) === responseIds.length
  );
}

function classifyBreak(prompt: Int32Array, chain: StepChain): BoundaryBreak {
  const first = chain[0];
  const last = chain.at(-1);
  if (first === undefined || last === undefined) return "prompt_changed";
  if (extendsStep(prompt, last)) return "temperature_changed";
  let difference = commonLength(last.promptIds, prompt, 0);
  if (difference === last.promptIds.length) {
    difference += commonLength(last.responseIds, prompt, last.promptIds.length);
  }
  if (difference === prompt.length) return "prompt_shorter";
  if (difference < first.promptIds.length) return "prompt_changed";
  const inResponse = chain.some(
    ({ promptIds, responseIds }) =>
      difference >= promptIds.length && difference < promptIds.length + responseIds.length,
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

/**
 * Every step ends up in exactly one chain. The latest chain is tried first and then the earlier ones,
 * so that two conversations interleaved in one trajectory become two chains and not one per call. Steps
 * of one chain have the same `temperatureOf`.
 */
export function mergeSteps(
  steps: readonly Step[],
  temperatureOf: (step: Step) => number,
): StepChains {
  if (steps.length === 1) return { chains: [steps], breaks: noBreaks };
  const chains: Step[][] = [];
  const breaks = { ...noBreaks };
  let running: Step[] | undefined;
  for (const step of steps) {
    const chain = chains.findLast((candidate) => {
      const last = candidate.at(-1);
      return (
        last !== undefined &&
        temperatureOf(last) === temperatureOf(step) &&
        extendsStep(step.promptIds, last)
      );
    });
    if (chain !== undefined) {
      chain.push(step);
      running = chain;
      continue;
    }
    if (running !== undefined) breaks[classifyBreak(step.promptIds, running)]++;
    running = [step];
    chains.push(running);
  }
  return { chains, breaks };
}
