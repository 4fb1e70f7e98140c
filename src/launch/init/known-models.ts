/** Models that `init` proposes, with what they take: measured where it was, otherwise computed from that. */

export interface KnownModel {
  readonly name: string;
  /** Billions. */
  readonly parameters: number;
  /** Gigabytes of the published files. */
  readonly downloadGb: number;
  /** Gibibytes of memory while the project of `init --model` trains. */
  readonly memoryGib: number;
  /** Of the same. */
  readonly minutesPer100Steps: number;
  readonly isMeasured: boolean;
  /** A few words. */
  readonly goodFor: string;
}

/** Of SmolLM2-135M-Instruct; a test compares these with the file. */
export const measured = {
  file: "benchmarks/results/first-hour.json",
  machine: "two cores of an Intel Xeon with AMX",
  parameters: 0.135,
  minutesPer100Steps: 0,
  memoryGib: 0,
} as const;

/** Products with the weights take most of a step, so minutes go with the parameters. */
const minutesOf = (parameters: number): number =>
  (measured.minutesPer100Steps * parameters) / measured.parameters;

/** A frozen base in bf16 and its transpose: 4 bytes for each parameter more. */
const memoryOf = (parameters: number): number =>
  measured.memoryGib + (4e9 * (parameters - measured.parameters)) / 2 ** 30;

const sizes: readonly (readonly [string, number, number, string])[] = [
  ["HuggingFaceTB/SmolLM2-135M-Instruct", 0.135, 0.27, "a first try; short answers, no reasoning"],
  ["HuggingFaceTB/SmolLM2-360M-Instruct", 0.36, 0.72, "short answers, one or two tools"],
  ["Qwen/Qwen2.5-0.5B-Instruct", 0.49, 0.99, "tools, JSON, many languages"],
  ["Qwen/Qwen3-0.6B", 0.6, 1.5, "tools and reasoning, long responses"],
  ["Qwen/Qwen2.5-1.5B-Instruct", 1.54, 3.1, "several tools, code; slow on a CPU"],
  ["HuggingFaceTB/SmolLM2-1.7B-Instruct", 1.71, 3.4, "English text; slow on a CPU"],
];

export const knownModels: readonly KnownModel[] = sizes.map(
  ([name, parameters, downloadGb, goodFor]) => ({
    name,
    parameters,
    downloadGb,
    goodFor,
    memoryGib: memoryOf(parameters),
    minutesPer100Steps: minutesOf(parameters),
    isMeasured: parameters === measured.parameters,
  }),
);
