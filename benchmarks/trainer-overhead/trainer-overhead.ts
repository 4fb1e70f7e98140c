/** `trainer-overhead`: what a step costs in addition to sampling and training. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { atMost, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import type { OverheadInput, OverheadOutput } from "./run-child.ts";

const child = new URL("run-child.ts", import.meta.url);

/** Tokens per second of the backend that the overhead is held against: several large GPUs. */
export const backendTokensPerS = 20_000;

export function overheadResults(
  { stepS, updateS, cpuS, peakMiB }: OverheadOutput,
  { rollouts, tokens }: OverheadInput,
  isShort: boolean,
): Result[] {
  const seconds = median(stepS);
  const backendS = (rollouts * tokens) / backendTokensPerS;
  return [
    result("a step without its backend", "s", seconds),
    result("of that, after the rollouts", "s", median(updateS)),
    result("processor time of a step", "s", median(cpuS)),
    result(
      `share of a step at ${backendTokensPerS} tokens per second`,
      "",
      seconds / (seconds + backendS),
      isShort ? undefined : atMost(0.02),
    ),
    result("peak memory", "MiB", peakMiB),
  ];
}

export const trainerOverhead: Benchmark = {
  name: "trainer-overhead",
  summary:
    "what a step of 1,000 rollouts of 4,096 tokens costs in addition to sampling and training",
  async run({ quick, repetitions }, log) {
    const sizes = quick ? { rollouts: 80, tokens: 512 } : { rollouts: 1000, tokens: 4096 };
    const input: OverheadInput = { ...sizes, steps: 1 + repetitions };
    log(`${input.rollouts} rollouts of ${input.tokens} tokens, ${input.steps} steps ...`);
    return overheadResults(await runChild<OverheadOutput>(child, input), input, quick);
  },
};
