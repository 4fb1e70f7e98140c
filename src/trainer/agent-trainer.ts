/** The public trainer: validates its options and starts the run. */
import type { CustomEstimators } from "../algorithms/catalog.ts";
import type { TrainingBackend } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import type { TrainerEvent } from "../core/events.ts";
import type { Task } from "../core/task.ts";
import { checkCapabilities, checkResume } from "./check-capabilities.ts";
import { checkParts } from "./check-parts.ts";
import { type ConfigInput, warningsOf, resolveConfig } from "../config/load.ts";
import type { TrainConfig } from "../config/train-config.ts";
import {
  type AlgorithmFunctions,
  type CustomLosses,
  nameAlgorithms,
  takeFunctions,
} from "./custom-algorithms.ts";
import type { EventListener } from "./emitter.ts";
import { streamEvents } from "./event-stream.ts";
import type { ResumeMode } from "./run-folder/run-directory.ts";
import { executeRun, type TrainResult } from "./run.ts";
import { type DatasetInput, readDataset } from "./rollouts/task.ts";
import { wayNotices } from "./rollouts/agent-warnings.ts";
import { resolveAgent, type Rollouts, type AgentSpec } from "./rollouts/agent-spec.ts";

/**
 * Options of an {@link AgentTrainer}: the backend, the agent, the configuration and the data.
 * @typeParam Metadata Type of `task.metadata`.
 */
export interface AgentTrainerOptions<
  Metadata = Record<string, unknown>,
> extends AgentSpec<Metadata> {
  /**
   * The backend that holds the weights, for one run. The caller owns it: the trainer starts it but
   * never disposes of it, so declare it with `await using`.
   */
  readonly backend: TrainingBackend;
  /**
   * The configuration: an object of options in camelCase, in which functions may take the place of
   * names of estimators and losses; a validated `TrainConfig` from `loadConfig`; or an array of
   * `key=value` strings as on the command line.
   */
  readonly config: ConfigInput;
  /** Tasks or rows to train on. */
  readonly trainDataset: DatasetInput<Metadata>;
  /** Tasks or rows to validate on. @default none */
  readonly valDataset?: DatasetInput<Metadata>;
  /**
   * `"auto"` resumes the latest run if there is one; a path resumes the run in that folder; `false`
   * starts a new run.
   * @default false
   */
  readonly resume?: ResumeMode;
  /**
   * Allows a resumed run to change options that decide what it computes, such as `rollout.n`. The
   * changes are recorded in `events.jsonl`.
   * @default false
   */
  readonly allowChanges?: boolean;
  /**
   * Aborting it ends the run early: the last completed step is saved, and the result's status is
   * `interrupted`.
   */
  readonly signal?: AbortSignal;
  /** Called synchronously with every event of the run. */
  readonly onEvent?: EventListener;
}

/** What the command line has built from the configuration before it creates a trainer. */
export interface MadeFromConfig {
  /** Functions that the options name as `path#export`, by these names. */
  readonly algorithms?: AlgorithmFunctions;
}

/**
 * Trains a model on an agent's own rollouts. One trainer is one run.
 *
 * @typeParam Metadata Type of `task.metadata`.
 *
 * @example
 * await using backend = createLocalBackend();
 * const trainer = new AgentTrainer({ backend, agentFlow, evaluator, config, trainDataset });
 * const result = await trainer.train();
 */
export class AgentTrainer<Metadata = Record<string, unknown>> {
  /** The resolved configuration, with every default filled in. */
  readonly config: TrainConfig;
  readonly #options: AgentTrainerOptions<Metadata>;
  readonly #rollouts: Rollouts<Metadata>;
  readonly #estimators: CustomEstimators;
  readonly #losses: CustomLosses;
  readonly #warnings: readonly string[];
  #wasStarted = false;

  /**
   * Validates the options; nothing is started yet.
   *
   * @throws ConfigError when an option is invalid or a required part is missing.
   * @throws UnsupportedOptionError when the backend does not support an option.
   */
  constructor(options: AgentTrainerOptions<Metadata>);
  /**
   * @internal For a caller that built the backend, the agent and the data from `config` itself.
   * Without `made`, options that name them (`backend`, `local.threads`, `dataset.train` ...) are
   * refused, since nothing would read them.
   */
  constructor(options: AgentTrainerOptions<Metadata>, made: MadeFromConfig);
  constructor(options: AgentTrainerOptions<Metadata>, made?: MadeFromConfig) {
    requireParts(options);
    this.#options = options;
    this.#rollouts = resolveAgent(options);
    const { config, functions } = takeFunctions(options.config);
    const resolved = resolveConfig(config);
    const { losses } = options.backend.capabilities;
    const named = nameAlgorithms(resolved, { ...made?.algorithms, ...functions }, losses);
    this.config = named.config;
    this.#warnings = [...warningsOf(resolved), ...wayNotices(this.config, this.#rollouts)];
    this.#estimators = named.estimators;
    this.#losses = named.losses;
    if (made === undefined) checkParts(this.config, options.backend);
    checkCapabilities(this.config, options.backend);
    if (options.resume !== undefined && options.resume !== false) checkResume(options.backend);
  }

  /**
   * Runs to the end.
   *
   * @returns The result of the run; an interrupted run resolves, too.
   * @throws AgentTrainerError when the run fails, or when this trainer has already been started.
   */
  async train(): Promise<TrainResult> {
    this.#claim();
    return await this.#run([], this.#options.signal);
  }

  /**
   * The same run as {@link train}, as an async iterable of its events. Leaving the loop early
   * interrupts the run; a run that fails throws after its last event. `onEvent` and `signal` work as
   * in {@link train}.
   *
   * @throws ConfigError when this trainer has already been started.
   */
  events(): AsyncIterableIterator<TrainerEvent> {
    this.#claim();
    const { signal } = this.#options;
    return streamEvents((push, left) =>
      this.#run([push], signal === undefined ? left : AbortSignal.any([signal, left])),
    );
  }

  #claim(): void {
    if (this.#wasStarted) {
      throw new ConfigError({
        message: "This AgentTrainer has already been started.",
        hint: "Create a new AgentTrainer, with a new backend, for each run. To continue an earlier run, set resume.",
      });
    }
    this.#wasStarted = true;
  }

  async #run(more: readonly EventListener[], signal?: AbortSignal): Promise<TrainResult> {
    const { backend, trainDataset, valDataset, resume, onEvent } = this.#options;
    const trainTasks = await readDataset(trainDataset, "training data");
    const valTasks =
      valDataset === undefined ? [] : await readDataset(valDataset, "validation data");
    return await executeRun({
      backend,
      // The type of the metadata concerns the caller only; nothing below this point reads it.
      rollouts: this.#rollouts as unknown as Rollouts,
      config: this.config,
      estimators: this.#estimators,
      losses: this.#losses,
      warnings: this.#warnings,
      trainTasks: trainTasks as readonly unknown[] as readonly Task[],
      valTasks: valTasks as readonly unknown[] as readonly Task[],
      resume: resume ?? false,
      allowChanges: this.#options.allowChanges === true,
      signal: signal ?? new AbortController().signal,
      listeners: onEvent === undefined ? more : [...more, onEvent],
    });
  }
}

/** JavaScript callers have no compiler that checks this. */
function requireParts(options: object): void {
  const parts = ["backend", "config", "trainDataset"] as const;
  const given = options as Readonly<Record<string, unknown>>;
  const missing = parts.filter((part) => given[part] === undefined || given[part] === null);
  if (missing.length === 0) return;
  throw new ConfigError({
    message: `AgentTrainer needs ${missing.join(", ")}.`,
    hint: `Pass an object with ${parts.join(", ")}.`,
    fields: { missing },
  });
}
