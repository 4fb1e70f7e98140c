/** Models that `init` proposes, with what a GRPO step takes: measured where it was, otherwise computed from that. */

export interface KnownModel {
  readonly name: string;
  /** Billions. */
  readonly parameters: number;
  /** Gigabytes of the published files, about. */
  readonly downloadGb: number;
  /** Gibibytes of memory while it trains. */
  readonly memoryGib: number;
  /** Seconds of a step. */
  readonly stepSeconds: number;
  readonly isMeasured: boolean;
  /** A few words. */
  readonly goodFor: string;
}

/** A step is 16 prompts of 64 tokens, 8 rollouts of 64 tokens each, LoRA of rank 16; a test compares these with the files. */
export const measured = {
  file: "benchmarks/results/grpo-step.json",
  machine: "two cores of an Intel Xeon with AMX",
  parameters: 0.135,
  stepSeconds: 14.77,
  /** Of the largest process while docs/first-hour.md trains it in 32-bit floats. */
  memoryGib: 4.7,
  memoryFile: "benchmarks/results/first-hour-model.json",
} as const;

/** Products with the weights take most of a step, so time goes with the parameters. */
const secondsOf = (parameters: number): number =>
  (measured.stepSeconds * parameters) / measured.parameters;

/** 32-bit floats: of a frozen base and its transpose 8 bytes for each parameter; the rest as measured. */
const memoryOf = (parameters: number): number =>
  measured.memoryGib + (8e9 * (parameters - measured.parameters)) / 2 ** 30;

const sizes: readonly (readonly [string, number, number, string])[] = [
  ["HuggingFaceTB/SmolLM2-135M-Instruct", 0.135, 0.27, "a first try; short answers, no reasoning"],
  ["HuggingFaceTB/SmolLM2-360M-Instruct", 0.36, 0.72, "short answers, one or two tools"],
  ["Qwen/Qwen2.5-0.5B-Instruct", 0.49, 0.99, "tools, JSON, many languages"],
  ["Qwen/Qwen3-0.6B", 0.6, 1.5, "tools and reasoning, long responses"],
  ["Qwen/Qwen2.5-1.5B-Instruct", 1.54, 3.1, "several tools, code; slow on a CPU"],
  ["HuggingFaceTB/SmolLM2-1.7B-Instruct", 1.71, 3.4, "English text; slow on a CPU"],
];

export const knownModels: readonly KnownModel[] = sizes.map(
  ([name, parameters, downloadGb, goodFor]) => {
    const isMeasured = parameters === measured.parameters;
    return {
      name,
      parameters,
      downloadGb,
      goodFor,
      memoryGib: isMeasured ? measured.memoryGib : memoryOf(parameters),
      stepSeconds: secondsOf(parameters),
      isMeasured,
    };
  },
);

/** As tables show it. */
export const stepText = (seconds: number): string =>
  seconds < 60 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`;
