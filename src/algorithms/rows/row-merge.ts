/**
 * Merges the steps of one trajectory into as few sequences as can be proven: a step joins a sequence
 * only when that sequence is an exact prefix of its prompt, id by id.
 */
import type { Step } from "../../core/trajectory.ts";
import { commonWithCall, continuesCall } from "../../util/token-prefix.ts";

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

function classifyBreak(prompt: Int32Array, chain: StepChain): BoundaryBreak {
  const first = chain[0]?.trace;
  const last = chain.at(-1)?.trace;
  if (first === undefined || last === undefined) return "prompt_changed";
  if (continuesCall(prompt, last)) return "temperature_changed";
  const difference = commonWithCall(prompt, last);
  if (difference === prompt.length) return "prompt_shorter";
  if (difference < first.promptIds.length) return "prompt_changed";
  const inResponse = chain.some(
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
        continuesCall(step.trace.promptIds, last.trace)
      );
    });
    if (chain !== undefined) {
      chain.push(step);
      running = chain;
      continue;
    }
    if (running !== undefined) breaks[classifyBreak(step.trace.promptIds, running)]++;
    running = [step];
    chains.push(running);
  }
  return { chains, breaks };
}
