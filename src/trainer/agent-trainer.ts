/**
 * The trainer that users hold: checks what it was given and starts the run. Knows nothing of steps,
 * files or gateways.
 */
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

/** What an {@link AgentTrainer} is made of. */
export interface AgentTrainerOptions<
  Metadata = Record<string, unknown>,
> extends AgentSpec<Metadata> {
  /**
   * What holds the weights, for one run. It stays yours: the trainer starts it and never disposes of
   * it, so hold it with `await using`.
   */
  readonly backend: TrainingBackend;
  /**
   * Options in camelCase, any of them; functions may stand for the names of estimators and losses. Or a
   * checked `TrainConfig` from `loadConfig`, or a list of `key=value` texts as on the command line.
   */
  readonly config: ConfigInput;
  /** Tasks or rows to train on. */
  readonly trainDataset: DatasetInput<Metadata>;
  /** Tasks or rows to validate on. @default none */
  readonly valDataset?: DatasetInput<Metadata>;
  /**
   * `"auto"` goes on with an earlier run if there is one, a path with the run in that folder.
   * @default false
   */
  readonly resume?: ResumeMode;
  /**
   * Lets a resumed run have other values of options that decide what it computes, such as `rollout.n`.
   * The change is recorded in `events.jsonl`. @default false
   */
  readonly allowChanges?: boolean;
  /** Ends the run early: the last completed step is saved and the result says `interrupted`. */
  readonly signal?: AbortSignal;
  /** Hears every event, synchronously. */
  readonly onEvent?: EventListener;
}

/** What the command line has made of the configuration before it makes a trainer. */
export interface MadeFromConfig {
  /** Functions that the options name as `path#export`, by these names. */
  readonly algorithms?: AlgorithmFunctions;
}

/**
 * Trains a model on an agent's own rollouts. One trainer is one run.
 *
 * @example
 * await using backend = createLocalBackend();
 * const trainer = new AgentTrainer({ backend, agentFlow, evaluator, config, trainDataset });
 * const result = await trainer.train();
 */
export class AgentTrainer<Metadata = Record<string, unknown>> {
  /** The resolved configuration. */
  readonly config: TrainConfig;
  readonly #options: AgentTrainerOptions<Metadata>;
  readonly #rollouts: Rollouts<Metadata>;
  readonly #estimators: CustomEstimators;
  readonly #losses: CustomLosses;
  readonly #warnings: readonly string[];
  #wasStarted = false;

  /**
   * @throws ConfigError when an option is wrong.
   * @throws UnsupportedOptionError when the backend does not honour one.
   */
  constructor(options: AgentTrainerOptions<Metadata>);
  /**
   * @internal For a caller that made the backend, the agent and the data from what `config` says of them.
   * Without it, options that name them (`backend`, `local.threads`, `dataset.train` ...) are refused, since
   * nothing would read them.
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

  /** Runs to the end. Rejects when the run fails; an interrupted run resolves. */
  async train(): Promise<TrainResult> {
    this.#claim();
    return await this.#run([], this.#options.signal);
  }

  /**
   * The same run as an iterable of its events; leaving the loop early interrupts the run. `onEvent`
   * and `signal` work as in {@link train}.
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
        hint: "Make a new AgentTrainer, with a new backend, for each run; resume goes on with an earlier one.",
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
      // Metadata is what the caller's rows have; nothing below this point looks inside.
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

/** JavaScript callers have no compiler to tell them. */
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
