/** Options of an `AgentTrainer`: what code passes, and what the configuration may name in its place. */
import type { PullProgress } from "../backends/local/index.ts";
import type { ConfigInput } from "../config/load.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { GroupEvaluator } from "../core/agent.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { BackendName } from "../core/capabilities.ts";
import type { OptionNames } from "../core/known-options.ts";
import type { EnvironmentSource } from "../core/environment.ts";
import type { MetadataOf, Task, TaskRow } from "../core/task.ts";
import type { Tracker } from "../core/tracker.ts";
import type { EventListener } from "../trainer/events.ts";
import {
  agentOptionNames,
  type AgentSpec,
  type EnvironmentAgentSpec,
  type GroupScoredAgentSpec,
  type NoAgentSpec,
} from "../rollouts/service/agent-spec.ts";
import type { DatasetInput } from "../datasets/tasks/task.ts";
import type { ResumeMode } from "../runs/run-directory.ts";

/**
 * Options of a run, next to those of its agent ({@link AgentSpec}).
 * @typeParam Row Type of the rows of `trainDataset`.
 */
export interface RunOptions<Row> {
  /**
   * The configuration: an object of options in camelCase, in which functions may take the place of
   * names of estimators and losses; a validated `TrainConfig` from `loadConfig`; or an array of
   * `key=value` strings as on the command line. Paths in it are relative to its file, or to the current
   * folder.
   * @default every option at its default: a small model of the hub is trained
   */
  readonly config?: ConfigInput | null;
  /**
   * What holds and trains the weights. A name, with its options in the configuration: the trainer
   * creates that backend for the run and disposes of it afterwards. Or an object, which the trainer
   * starts but never disposes of: declare it with `await using`.
   * @default the option `backend` of the configuration, which is "local" by default
   */
  readonly backend?: BackendName | TrainingBackend | null;
  /**
   * An environment that gives tasks, tools, prompts and rewards: by name, as in `"openenv:http://127.0.0.1:8000"`,
   * or an object. Without an agent, a loop offers its tools to the model; an agent gets its episode as
   * `config.environment`.
   * @default the option `env` of the configuration, which is none by default
   */
  readonly env?: string | EnvironmentSource | null;
  /**
   * Tasks or rows to train on. The type of the rows determines that of `task.metadata`.
   * @default with a config from `loadConfig`, what its option `dataset.train` names
   */
  readonly trainDataset?: DatasetInput<Row> | null;
  /** Tasks or rows to validate on. @default what the option `dataset.val` names, or none */
  readonly valDataset?: DatasetInput<NoInfer<Row>> | null;
  /**
   * Scores the rollouts of a task in a training step relative to each other, in place of the rewards that they have:
   * `relativeJudge` of `agent-trainer/evaluators`, or a function. An evaluator is then needed for validations
   * only.
   * @default the option `group_evaluator`, which is none by default
   */
  readonly groupEvaluator?: GroupEvaluator<MetadataOf<NoInfer<Row>>> | null;
  /**
   * `"auto"` resumes the latest run if there is one; a path resumes the run in that folder; `false`
   * starts a new run.
   * @default false
   */
  readonly resume?: ResumeMode | null;
  /**
   * Allows a resumed run to change options that decide what it computes, such as `rollout.n`. The
   * changes are recorded in `events.jsonl`.
   * @default false
   */
  readonly allowChanges?: boolean | null;
  /**
   * Aborting it ends the run early: the last completed step is saved, and the result's status is
   * `interrupted`.
   */
  readonly signal?: AbortSignal | null;
  /** Called synchronously with every event of the run. */
  readonly onEvent?: EventListener | null;
  /** Custom trackers, in addition to those that `tracking.trackers` names. @default none */
  readonly trackers?: readonly Tracker[] | null;
  /**
   * Called with the progress of downloading a model from a hub, where the trainer creates the backend
   * `local`.
   */
  readonly onPull?: ((progress: PullProgress) => void) | null;
}

const runOptionNames: OptionNames<RunOptions<unknown>> = {
  config: true,
  backend: true,
  env: true,
  trainDataset: true,
  valDataset: true,
  groupEvaluator: true,
  resume: true,
  allowChanges: true,
  signal: true,
  onEvent: true,
  trackers: true,
  onPull: true,
};

/** All options of an `AgentTrainer`. */
export const trainerOptionNames: Readonly<Record<string, true>> = {
  ...agentOptionNames,
  ...runOptionNames,
};

/** Agent and data in code. */
type InCode<Row> = { readonly trainDataset: DatasetInput<Row> } & (
  | AgentSpec<MetadataOf<Row>>
  | GroupScoredAgentSpec<MetadataOf<Row>>
);

/** An environment, which gives what code does not pass. */
type InEnvironment<Row> = { readonly env: string | EnvironmentSource } & EnvironmentAgentSpec<
  MetadataOf<Row>
>;

/** A complete configuration, which names what code does not pass. */
type InConfig<Row> = { readonly config: TrainConfig } & (AgentSpec<MetadataOf<Row>> | NoAgentSpec);

/**
 * Options of an `AgentTrainer`: the agent, what scores it, the data, the configuration and the backend.
 *
 * The agent has one of four forms: `agentFlow` with `evaluator`, `agentRunFunc`, `workflowClass`, or
 * `agentClass` with `envClass`; the compiler refuses to mix them. With a `config` from `loadConfig`, the
 * agent and the data may be omitted: then its options `agent`, `evaluator`, `dataset.train` and
 * `dataset.val` name them, as on the command line. With `env`, agent, evaluator and data may all be
 * omitted: the environment has them. `null` means not given, for every option.
 *
 * @typeParam Row Type of the rows of `trainDataset`; inferred.
 */
export type AgentTrainerOptions<Row extends object = Task | TaskRow> = RunOptions<Row> &
  (InCode<Row> | InConfig<Row> | InEnvironment<Row>);
