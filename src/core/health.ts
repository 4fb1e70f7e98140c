/** Diseases of a run: their names, and what a finding says. The rules that find them are in `src/runs/health/`. */

/** What is known of a disease before it is found. */
interface DiseaseFacts {
  /** For people. */
  readonly title: string;
  /** `problem`: the run cannot be trusted, or learns nothing. `warning`: it is worth a look. A rule may see less of it. */
  readonly severity: "problem" | "warning";
  readonly advice: string;
  /** Diseases that are its consequences, and are left out where it is found. @default none */
  readonly explains?: readonly string[];
  /** Options that its advice names, or that are often its cause. @default none */
  readonly options?: readonly string[];
  /** Which episodes to look at. @default any */
  readonly only?: "tool-errors" | "errors" | "truncated" | "malformed" | "incorrect";
}

/** Names of diseases, causes before their consequences. */
export const diseaseNames = [
  "no_reward_variance",
  "reward_hacked",
  "validation_diverges",
  "updates_skipped",
  "learning_rate_high",
  "learning_rate_low",
  "entropy_collapse",
  "length_collapse",
  "truncation",
  "garbled_output",
  "repeated_text",
  "tool_errors",
  "malformed_tool_calls",
  "failed_rollouts",
  "untrainable_calls",
  "sampler_trainer_gap",
  "stale_weights",
] as const;

/** Name of a disease, as `health.stop` takes it. */
export type DiseaseName = (typeof diseaseNames)[number];

export const diseaseFacts: Readonly<Record<DiseaseName, DiseaseFacts>> = {
  no_reward_variance: {
    title: "no reward variance",
    severity: "problem",
    advice:
      "Nothing can be learned from equal rewards. Read an episode: does the agent do what it should, and does the evaluator see it (agent-trainer doctor reward)? If both do, choose tasks of medium difficulty, grade the reward, or raise rollout.n.",
    explains: ["updates_skipped", "learning_rate_low"],
    options: ["rollout.n"],
  },
  reward_hacked: {
    title: "reward is hacked",
    severity: "problem",
    advice:
      "Read episodes with a high reward of the first steps: the reward pays for something else than the task.",
  },
  validation_diverges: {
    title: "validation diverges from training",
    severity: "problem",
    advice:
      "Training tasks are memorized, or their reward is gamed: use more tasks, stop early (trainer.early_stopping_patience), or correct the evaluator.",
    options: ["training.learning_rate", "trainer.early_stopping_patience"],
  },
  updates_skipped: {
    title: "updates are skipped",
    severity: "problem",
    advice:
      "train/skip_reason names the reason of each step. A gradient of 0 means that everything was masked or cancels out: look at rows/trained_tokens and rows/dropped.",
    explains: ["learning_rate_low"],
  },
  learning_rate_high: {
    title: "learning rate is too high",
    severity: "problem",
    advice:
      "Lower training.learning_rate, set training.max_grad_norm, or make fewer updates per batch.",
    explains: [
      "malformed_tool_calls",
      "no_reward_variance",
      "entropy_collapse",
      "length_collapse",
      "updates_skipped",
    ],
    options: ["training.learning_rate", "training.max_grad_norm", "training.ppo_epochs"],
  },
  learning_rate_low: {
    title: "learning rate is too low",
    severity: "warning",
    advice:
      "Raise training.learning_rate threefold; LoRA needs about ten times that of full fine-tuning.",
    options: ["training.learning_rate"],
  },
  entropy_collapse: {
    title: "entropy collapse",
    severity: "problem",
    advice:
      "The policy no longer explores. Lower the learning rate, or set algorithm.entropy_coef or algorithm.kl_beta.",
    explains: ["no_reward_variance", "updates_skipped"],
    options: ["training.learning_rate", "algorithm.entropy_coef", "algorithm.kl_beta"],
  },
  length_collapse: {
    title: "length collapse",
    severity: "warning",
    advice:
      "Read some responses: short ones may have found a loophole of the reward, and empty ones that silence pays. If the first step has them already, check the chat template.",
  },
  truncation: {
    title: "truncation",
    severity: "problem",
    advice:
      "Raise rollout.train.max_tokens; if responses are long for no reason, penalize length with algorithm.overlong_buffer.",
    explains: ["malformed_tool_calls"],
    only: "truncated",
    options: ["rollout.train.max_tokens"],
  },
  garbled_output: {
    title: "garbled output",
    severity: "problem",
    advice:
      "If the first step has it already, check the temperature, the chat template and the tokenizer; if it came later, the model diverged: lower the learning rate or algorithm.entropy_coef.",
    explains: ["repeated_text", "malformed_tool_calls"],
    options: ["rollout.train.temperature", "training.learning_rate", "algorithm.entropy_coef"],
  },
  repeated_text: {
    title: "repeated text",
    severity: "warning",
    advice:
      "Responses end in loops: raise the temperature, lower max_tokens, or give truncated responses no reward.",
    options: ["rollout.train.temperature", "rollout.train.max_tokens"],
  },
  tool_errors: {
    title: "tool errors",
    severity: "warning",
    advice: "Read some: a tool that always fails teaches the model not to call it.",
    only: "tool-errors",
  },
  malformed_tool_calls: {
    title: "malformed tool calls",
    severity: "warning",
    advice:
      "Calls cannot be parsed. If the first step has it already, check that the renderer is that of the model; if it came later, the model drifted, or is rewarded for them.",
    only: "malformed",
    options: ["rollout.train.max_tokens"],
  },
  failed_rollouts: {
    title: "failed rollouts",
    severity: "problem",
    advice:
      "Open one of them: its banner says what failed. Where attempts were only repeated, events.jsonl has each error.",
    only: "errors",
  },
  untrainable_calls: {
    title: "calls that cannot be trained on",
    severity: "warning",
    advice: "Open an episode: the call says why.",
  },
  sampler_trainer_gap: {
    title: "sampler and trainer differ",
    severity: "problem",
    advice:
      "Check that both sides have the same weights, precision and chat template, or set algorithm.rollout_correction=token.",
    explains: ["learning_rate_high"],
    options: ["algorithm.rollout_correction.type"],
  },
  stale_weights: {
    title: "stale weights",
    severity: "problem",
    advice:
      "The sampler still has old weights: check the weight sync, or lower async_training.staleness_threshold.",
    explains: ["sampler_trainer_gap", "learning_rate_low"],
    options: ["async_training.staleness_threshold"],
  },
};

/** A disease that was found in a run, with what was seen. */
export interface HealthFinding {
  /** Name of the disease, as `health.stop` takes it. */
  readonly disease: DiseaseName;
  /** The same for people. */
  readonly name: string;
  readonly severity: "problem" | "warning";
  /** What was seen, with numbers and names of metrics. */
  readonly evidence: string;
  /** What to do, in a sentence or two. */
  readonly advice: string;
  /** Steps that show it, of those that were looked at. */
  readonly steps: readonly number[];
  /** Page and section of the documentation. */
  readonly doc: string;
  /** Filter of the viewer that shows the episodes concerned. */
  readonly filter?: { readonly only: NonNullable<DiseaseFacts["only"]> };
}

/** A disease of a recorded run. */
export interface RunFinding extends HealthFinding {
  /** Step in which the run warned of it; null where it did not, as with `health.enabled=false`. */
  readonly warnedAt: number | null;
  /** Whether the newest steps still show it. */
  readonly isCurrent: boolean;
  /** What the run has for the options that its advice names or that are often its cause, as JSON. */
  readonly options: Readonly<Record<string, string>>;
}
