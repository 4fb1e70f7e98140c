/** Options and result of an evaluation. */
import type { PullProgress } from "../../backends/local/index.ts";
import type { ConfigInput } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend, WorkerKind } from "../../core/backend.ts";
import type { BackendName } from "../../core/capabilities.ts";
import type { EnvironmentSource } from "../../core/environment.ts";
import type { OptionNames } from "../../core/known-options.ts";
import type { MetadataOf, Task, TaskRow } from "../../core/task.ts";
import type { Tracker } from "../../core/tracker.ts";
import type { Episode } from "../../core/trajectory.ts";
import {
  agentOptionNames,
  type AgentSpec,
  type EnvironmentAgentSpec,
  type NoAgentSpec,
} from "../../rollouts/service/agent-spec.ts";
import type { DatasetInput } from "../../datasets/tasks/task.ts";
import type { EvaluationItem } from "../../runs/evaluations/evaluation-item.ts";
import type { EvaluationSummary } from "../../runs/evaluations/summary.ts";

/** A model behind an endpoint that speaks OpenAI's protocol. */
export interface ModelEndpoint {
  /** With or without the path of its routes, such as `https://api.openai.com/v1`. */
  readonly url: string;
  /** The model as the endpoint names it. @default what it lists first */
  readonly name?: string;
  /** Sent to the endpoint, as a bearer token. @default none */
  readonly apiKey?: string;
  /** What the endpoint runs. @default "auto", which probes it */
  readonly kind?: WorkerKind | "auto";
}

/**
 * Options of an evaluation, next to those of its agent ({@link AgentSpec}).
 * @typeParam Row Type of the rows of `dataset`.
 */
export interface EvaluationRunOptions<Row> {
  /**
   * An environment that gives tasks (of `environment.val_split`), tools, prompts and rewards: by name, as in
   * `"openenv:http://127.0.0.1:8000"`, or an object.
   * @default the option `env` of `config`, which is none by default
   */
  readonly env?: string | EnvironmentSource;
  /** Tasks or rows to evaluate on. @default what the option `dataset.val` of `config` names */
  readonly dataset?: DatasetInput<Row>;
  /**
   * What is evaluated: the URL of an OpenAI-compatible endpoint, or an object with its key; the folder of a run
   * (its newest checkpoint) or of a checkpoint; the name of a model that the backend knows; or what samples
   * in this process.
   * @default the option `model.name` of `config`
   */
  readonly model?: string | ModelEndpoint | InferenceTarget;
  /**
   * What serves the model, unless that is an endpoint: a name, or an object, which the evaluation starts
   * but never disposes of.
   * @default the option `backend` of `config`, which is "local" by default
   */
  readonly backend?: BackendName | TrainingBackend;
  /** Attempts at each task. @default the option `rollout.n_val`, which is 1 by default */
  readonly n?: number;
  /** Evaluates the first tasks only, this many. @default all */
  readonly limit?: number;
  /** Attempts running at the same time. @default the option `workflow.n_parallel_tasks` */
  readonly concurrency?: number;
  /** Seed of sampling and of the confidence intervals. @default the option `trainer.seed` */
  readonly seed?: number;
  /**
   * Further options as for training: `rollout.val` has those of sampling, `workflow` the time limits.
   * @default those of the run, where `model` is a run or a checkpoint, else all defaults
   */
  readonly config?: ConfigInput;
  /** Folder to record the evaluation in. @default nothing is written */
  readonly folder?: string;
  /** Continues the evaluation in `folder`: attempts that have a result are not repeated. @default false */
  readonly resume?: boolean;
  /** Aborting it ends the evaluation early, with the results so far and the status `interrupted`. */
  readonly signal?: AbortSignal;
  /** What receives its metrics, in addition to what the option `tracking.trackers` names; needs `folder`. @default none */
  readonly trackers?: readonly Tracker[];
  /** Called synchronously with every result, and how many of all attempts have one. */
  readonly onResult?: (item: EvaluationItem, progress: EvaluationProgress) => void;
  /** Called synchronously with every attempt as it ends, with every call in it. */
  readonly onEpisode?: (episode: Episode) => void;
  /** Called with warnings, as sentences. */
  readonly onWarning?: (message: string) => void;
  /** Called with the progress of downloading a model from a hub. */
  readonly onPull?: (progress: PullProgress) => void;
}

const runOptionNames: OptionNames<EvaluationRunOptions<unknown>> = {
  env: true,
  dataset: true,
  model: true,
  backend: true,
  n: true,
  limit: true,
  concurrency: true,
  seed: true,
  config: true,
  folder: true,
  resume: true,
  signal: true,
  trackers: true,
  onResult: true,
  onEpisode: true,
  onWarning: true,
  onPull: true,
};

/** All options of {@link evaluate}. */
export const evaluationOptionNames: Readonly<Record<string, true>> = {
  ...agentOptionNames,
  ...runOptionNames,
};

/** How far an evaluation is. */
export interface EvaluationProgress {
  readonly done: number;
  readonly planned: number;
}

/** Agent and data in code. */
type InCode<Row> = { readonly dataset: DatasetInput<Row> } & AgentSpec<MetadataOf<Row>>;

/** An environment, which gives what code does not pass. */
type InEnvironment<Row> = { readonly env: string | EnvironmentSource } & EnvironmentAgentSpec<
  MetadataOf<Row>
>;

/** A complete configuration, which names what code does not pass. */
type InConfig<Row> = { readonly config: TrainConfig } & (AgentSpec<MetadataOf<Row>> | NoAgentSpec);

/**
 * Options of {@link evaluate}: agent and evaluator in one of the forms that `AgentTrainer` takes, the data,
 * and the model. With a `config` from `loadConfig`, agent and data may be omitted.
 * @typeParam Row Type of the rows of `dataset`; inferred.
 */
export type EvaluationOptions<Row extends object = Task | TaskRow> = EvaluationRunOptions<Row> &
  (InCode<Row> | InConfig<Row> | InEnvironment<Row>);

/** The result of an evaluation. */
export interface EvaluationResult {
  /** `out_of_budget`: a limit of `budget` ended it; resuming it with a larger one measures the rest. */
  readonly status: "completed" | "out_of_budget" | "interrupted";
  /** Where it was recorded; null where nothing was written. */
  readonly folder: string | null;
  readonly summary: EvaluationSummary;
  /** In the order of the tasks, and of the attempts at each. */
  readonly items: readonly EvaluationItem[];
}
