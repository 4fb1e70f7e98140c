/** Faults of a reward: their names, and what a finding says. */

interface FaultFacts {
  readonly title: string;
  readonly severity: "problem" | "warning";
  readonly advice: string;
}

/** Name of a fault. */
export type RewardFault =
  | "throws"
  | "no_score"
  | "times_out"
  | "slow_on_long_output"
  | "nondeterministic"
  | "constant"
  | "inverted"
  | "rejects_reference"
  | "too_strict"
  | "pays_empty"
  | "pays_echo"
  | "pays_refusal"
  | "pays_format"
  | "pays_length"
  | "pays_wrong_answer"
  | "pays_substring"
  | "pays_listing"
  | "pays_injection"
  | "unbounded"
  | "inconsistent"
  | "leaks_answer"
  | "no_variance"
  | "few_references";

export const faultFacts: Readonly<Record<RewardFault, FaultFacts>> = {
  throws: {
    title: "throws",
    severity: "problem",
    advice: "Return the lowest reward for output that cannot be read; an error drops the rollout.",
  },
  no_score: {
    title: "returns no score",
    severity: "problem",
    advice: "Return a finite number, a boolean, or an object with reward, for every output.",
  },
  times_out: {
    title: "times out",
    severity: "problem",
    advice: "Limit what it runs or waits for, or raise workflow.evaluator_timeout_s.",
  },
  slow_on_long_output: {
    title: "slow on long output",
    severity: "problem",
    advice:
      "Its time grows faster than the output, as with a regular expression that backtracks: use a linear one, or cut the output first.",
  },
  nondeterministic: {
    title: "not deterministic",
    severity: "problem",
    advice:
      "The same output gets different rewards: remove what is random, shared between calls, or dependent on their order; a judge needs temperature 0.",
  },
  constant: {
    title: "constant",
    severity: "problem",
    advice: "Every output gets the same reward: it may read another field than the agent returns.",
  },
  inverted: {
    title: "inverted",
    severity: "problem",
    advice: "The reference answer gets less than a wrong one: turn the comparison around.",
  },
  rejects_reference: {
    title: "rejects the reference answer",
    severity: "problem",
    advice: "No rollout can succeed: compare what it reads with the field of the task.",
  },
  too_strict: {
    title: "rejects the reference answer in other words",
    severity: "warning",
    advice:
      "Normalize white space, case and punctuation, or extract the answer from the sentence around it, unless the format is what is asked for.",
  },
  pays_empty: {
    title: "pays for an empty output",
    severity: "problem",
    advice: "An empty string is part of every text: check for it first.",
  },
  pays_echo: {
    title: "pays for the prompt",
    severity: "problem",
    advice: "The output only repeats the task: look at what it added.",
  },
  pays_refusal: {
    title: "pays for a refusal",
    severity: "problem",
    advice: "The model learns to refuse: score whether the task is done.",
  },
  pays_format: {
    title: "pays for format alone",
    severity: "problem",
    advice: "Tags, boxes and headings without content get most of the reward: weigh them less.",
  },
  pays_length: {
    title: "pays for length",
    severity: "problem",
    advice: "Long text without content gets a high reward: bound what length may add.",
  },
  pays_wrong_answer: {
    title: "pays for a wrong answer",
    severity: "problem",
    advice: "Compare with the task's own reference answer.",
  },
  pays_substring: {
    title: "pays for answers that contain the reference",
    severity: "problem",
    advice: "12 is part of 3120: compare whole answers, or whole words.",
  },
  pays_listing: {
    title: "pays for a list of answers",
    severity: "problem",
    advice: "An output that names every answer is right by accident: accept exactly one.",
  },
  pays_injection: {
    title: "obeys instructions in the output",
    severity: "problem",
    advice:
      "Text of the output reaches a judge as an instruction, or a keyword decides: quote the output, and parse the verdict from the judge's response only.",
  },
  unbounded: {
    title: "not bounded",
    severity: "warning",
    advice: "One output has a reward far beyond that of the reference answer: clamp it.",
  },
  inconsistent: {
    title: "reward and correctness disagree",
    severity: "problem",
    advice:
      "isCorrect is what pass@k counts, and the reward is what trains: derive one from the other.",
  },
  leaks_answer: {
    title: "the prompt contains the answer",
    severity: "warning",
    advice:
      "Copying is enough to be right: take the answer out of the instruction, unless the task is to find it there.",
  },
  no_variance: {
    title: "real rollouts all get the same reward",
    severity: "problem",
    advice: "Nothing can be learned from equal rewards: grade the reward, or choose other tasks.",
  },
  few_references: {
    title: "tasks without a reference answer",
    severity: "warning",
    advice: "Some rows have none: their rollouts cannot be right. Look at the dataset's fields.",
  },
};
