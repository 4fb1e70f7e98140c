/** Faults of a reward: their names, what to do about them, and the outputs that showed them. */

/** Name of a fault. */
export type RewardFault =
  | "fails"
  | "nondeterministic"
  | "rejects_reference"
  | "pays_empty"
  | "pays_echo"
  | "pays_refusal"
  | "pays_format"
  | "pays_length"
  | "pays_wrong_answer"
  | "pays_substring"
  | "pays_listing"
  | "pays_injection";

const facts: Readonly<Record<RewardFault, { readonly title: string; readonly advice: string }>> = {
  fails: {
    title: "fails",
    advice:
      "Return a finite number, a boolean, or an object with reward, for every output and in time: a rollout that cannot be scored is dropped. Output that cannot be read deserves the lowest reward.",
  },
  nondeterministic: {
    title: "not deterministic",
    advice:
      "The same output gets different rewards: remove what is random, shared between calls, or dependent on their order; a judge needs temperature 0.",
  },
  rejects_reference: {
    title: "rejects the reference answer",
    advice:
      "No rollout can succeed: compare what it reads with the output of the agent and the field of the task.",
  },
  pays_empty: {
    title: "pays for an empty output",
    advice: "An empty string is part of every text: check for it first.",
  },
  pays_echo: {
    title: "pays for the prompt",
    advice: "The output only repeats the task: look at what it added.",
  },
  pays_refusal: {
    title: "pays for a refusal",
    advice: "The model learns to refuse: score whether the task is done.",
  },
  pays_format: {
    title: "pays for format alone",
    advice: "Tags, boxes and headings without content get most of the reward: weigh them less.",
  },
  pays_length: {
    title: "pays for length",
    advice: "Long text without content gets a high reward: bound what length may add.",
  },
  pays_wrong_answer: {
    title: "pays for a wrong answer",
    advice: "Compare with the task's own reference answer.",
  },
  pays_substring: {
    title: "pays for answers that contain the reference",
    advice: "12 is part of 3120: compare whole answers, or whole words.",
  },
  pays_listing: {
    title: "pays for a list of answers",
    advice: "An output that names every answer is right by accident: accept exactly one.",
  },
  pays_injection: {
    title: "obeys instructions in the output",
    advice:
      "Text of the output reaches a judge as an instruction, or a keyword decides: quote the output, and parse the verdict from the judge's response only.",
  },
};

/** One output that was scored. */
export interface RewardCase {
  readonly taskId: string;
  /** Of the probe, in words. */
  readonly probe: string;
  /** The first 500 characters. */
  readonly output: string;
  /** Its length in characters. */
  readonly length: number;
  /** null where the evaluator failed. */
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
  /** Why it failed. */
  readonly error?: string;
}

/** A fault of a reward, with the case that shows it. */
export interface RewardFinding {
  readonly fault: RewardFault;
  /** The same for people. */
  readonly name: string;
  /** What was seen, with numbers. */
  readonly evidence: string;
  readonly advice: string;
  readonly case: RewardCase;
}

export function finding(fault: RewardFault, evidence: string, shown: RewardCase): RewardFinding {
  const { title, advice } = facts[fault];
  return { fault, name: title, evidence, advice, case: shown };
}
