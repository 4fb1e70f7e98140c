/** The public trainer: validates its options, loads what they name, and starts the run. */
import { switchNotices } from "../config/checks/switches.ts";
import { folderOf, resolveConfig, warningsOf, withBackend } from "../config/load.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { Evaluator, GroupEvaluator } from "../core/agent.ts";
import type { TrainingBackend } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import { requireKnownOptions } from "../core/known-options.ts";
import type { TrainerEvent } from "../core/events.ts";
import type { TaskHooks } from "../core/hooks.ts";
import type { Task, TaskRow } from "../core/task.ts";
import { checkCapabilities, checkResume } from "../trainer/check-capabilities.ts";
import { checkParts } from "../trainer/check-parts.ts";
import {
  type NamedFunctions,
  requireFunctions,
  takeFunctions,
  withLoaded,
} from "../trainer/custom-algorithms.ts";
import { type EventListener, streamEvents } from "../trainer/events.ts";
import { type AgentSpec, hasAgent, resolveAgent } from "../rollouts/service/agent-spec.ts";
import { wayNotices } from "../rollouts/service/agent-warnings.ts";
import type { DatasetInput } from "../datasets/tasks/task.ts";
import { requireFunction } from "../rollouts/programs/callable.ts";
import { createTrackers } from "../trackers/create-trackers.ts";
import { rolloutTraining } from "../trainer/rollout-training.ts";
import { executeRun, type TrainResult } from "../trainer/run.ts";
import { type GivenOf, givenOf, isGiven, defined } from "../util/defined.ts";
import { checkBackendForm, checkBackendName } from "./create-backend.ts";
import { loadGroupEvaluator, requireAgent, requireOption } from "./load-agent.ts";
import { loadAlgorithms } from "./load-algorithms.ts";
import { loadTasks } from "./run-datasets.ts";
import { agentIn, checkOneEnvironment, openRunEnvironment } from "./run-environment.ts";
import { createTeacher } from "./teacher/create-teacher.ts";
import { mixedAgent, openSources } from "./mixture.ts";
import { loadHint } from "./teacher/load-hint.ts";
import { openBackend } from "./open-backend.ts";
import { type AgentTrainerOptions, trainerOptionNames } from "./trainer-options.ts";

/** The options without the types that only callers need. */
type Given = GivenOf<
  Pick<
    AgentTrainerOptions,
    "resume" | "allowChanges" | "env" | "signal" | "onEvent" | "onPull" | "trackers"
  >
> & {
  readonly backend: TrainingBackend | null;
  readonly evaluator?: Evaluator;
  readonly groupEvaluator?: GroupEvaluator;
  readonly hooks?: TaskHooks;
  readonly trainDataset?: DatasetInput | null;
  readonly valDataset?: DatasetInput | null;
};

/**
 * Trains a model on an agent's own rollouts. One trainer is one run.
 *
 * @typeParam Row Type of the rows of `trainDataset`; inferred.
 *
 * @example
 * const trainer = new AgentTrainer({
 *   agentFlow: async (task, config) => {
 *     const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey });
 *     const completion = await client.chat.completions.create({
 *       model: config.model,
 *       messages: [{ role: "user", content: task.instruction }],
 *     });
 *     return completion.choices[0]?.message.content;
 *   },
 *   evaluator: (task, episode) => episode.output === task.metadata.answer,
 *   trainDataset: [{ instruction: "What is 2 + 2?", answer: "4" }],
 *   config: { model: { name: "builtin:shop-tiny" }, trainer: { totalBatches: 10 } },
 * });
 * const { status, runDir } = await trainer.train();
 *
 * @example <caption>Everything from a file, as on the command line</caption>
 * const { config } = loadConfig({ file: "shop.yaml", overrides: ["rollout.n=16"] });
 * await new AgentTrainer({ config }).train();
 */
export class AgentTrainer<Row extends object = Task | TaskRow> {
  /** The resolved configuration, with every default filled in. */
  readonly config: TrainConfig;
  readonly #given: Given;
  /** `null` when the configuration names the agent. */
  readonly #agent: AgentSpec | null;
  readonly #functions: NamedFunctions;
  readonly #folder: string;
  readonly #warnings: readonly string[];
  #wasStarted = false;

  /**
   * Validates the options; nothing is loaded or started yet.
   *
   * @throws ConfigError when an option is invalid or a required part is missing.
   * @throws UnsupportedOptionError when the backend that was passed does not support an option. For a
   * backend by name, `train` throws it before the run starts.
   */
  constructor(passed: AgentTrainerOptions<Row>) {
    requireKnownOptions("AgentTrainer", passed, trainerOptionNames);
    const options = givenOf(passed);
    const { backend, config: input = {}, trainDataset, valDataset } = options;
    const { env } = options;
    const { config: withoutFunctions, functions } = takeFunctions(input);
    const resolved = resolveConfig(withoutFunctions);
    this.#folder = folderOf(resolved);
    this.#functions = functions;
    if (isGiven(backend)) checkBackendForm(backend);
    const object = typeof backend === "object" ? backend : null;
    if (isGiven(env)) checkOneEnvironment(env, resolved);
    const named = isGiven(backend) ? withBackend(resolved, backend) : resolved;
    this.config = isGiven(env)
      ? resolveConfig({ ...named, env: typeof env === "string" ? env : env.name })
      : named;
    // Functions that options name as path#export are loaded when the run starts.
    requireFunctions(this.config, functions, (name) => !name.startsWith("code#"));
    // What this program passes may give options a meaning that they do not have in the file alone.
    const stale = new Set(switchNotices(resolved));
    this.#warnings = [
      ...warningsOf(resolved).filter((warning) => !stale.has(warning)),
      ...switchNotices(this.config),
    ];
    // The type of the rows concerns the caller only; nothing below this point reads it.
    this.#given = { ...options, backend: object } as unknown as Given;
    const agent = options as unknown as AgentSpec;
    const { sources } = this.config.dataset;
    const inEnv =
      isGiven(env) ||
      this.config.env !== null ||
      (sources.length > 0 && sources.every((source) => (source.env ?? null) !== null));
    this.#agent = hasAgent(agent) ? agent : null;
    if (this.#agent === null && !inEnv) requireAgent(this.config, options);
    // What is wrong with it is known before anything starts.
    if (isGiven(this.#given.groupEvaluator)) {
      requireFunction("groupEvaluator", this.#given.groupEvaluator);
    }
    if (this.#agent !== null && !inEnv && sources.length === 0)
      resolveAgent(this.#agent, this.#isGroupScored);
    if (!isGiven(trainDataset) && !inEnv && sources.length === 0) {
      requireOption(this.config.dataset.train, "dataset.train", "trainDataset");
    }
    checkParts(this.config, {
      backend: object?.name ?? null,
      agent: this.#agent !== null,
      groupEvaluator: isGiven(this.#given.groupEvaluator),
      trainDataset: isGiven(trainDataset),
      valDataset: isGiven(valDataset),
    });
    if (object === null) checkBackendName(this.config.backend);
    else this.#checkBackend(object);
  }

  /**
   * Runs to the end.
   *
   * @returns The result of the run; an interrupted run resolves, too.
   * @throws AgentTrainerError when the run fails, or when this trainer has already been started.
   */
  async train(): Promise<TrainResult> {
    this.#claim();
    return await this.#run([], this.#given.signal);
  }

  /**
   * The same run as {@link train}, as an async iterable of its events. Leaving the loop early
   * interrupts the run; a run that fails throws after its last event. `onEvent` and `signal` work as
   * in {@link train}.
   *
   * @example
   * for await (const event of trainer.events()) {
   *   if (event.type === "step-end") console.log(event.step, event.metrics["reward/mean"]);
   * }
   *
   * @throws ConfigError when this trainer has already been started.
   */
  events(): AsyncIterableIterator<TrainerEvent> {
    this.#claim();
    const { signal } = this.#given;
    return streamEvents((push, left) =>
      this.#run([push], signal === undefined ? left : AbortSignal.any([signal, left])),
    );
  }

  get #isGroupScored(): boolean {
    return isGiven(this.#given.groupEvaluator) || this.config.groupEvaluator !== null;
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

  #checkBackend(backend: TrainingBackend): void {
    checkCapabilities(this.config, backend);
    const { resume } = this.#given;
    if (resume !== undefined && resume !== false) checkResume(backend);
  }

  async #run(more: readonly EventListener[], signal?: AbortSignal): Promise<TrainResult> {
    const { config } = this;
    const { resume, allowChanges, onEvent } = this.#given;
    const listeners = onEvent === undefined ? more : [...more, onEvent];
    await using env = await openRunEnvironment(config, this.#folder, this.#given.env);
    await using mixture = await openSources(config, this.#folder);
    const { sources } = mixture;
    const parts = { ...this.#given, isGroupScored: this.#isGroupScored };
    const rollouts =
      sources.length > 0
        ? await mixedAgent(this.#agent, config, this.#folder, sources, parts)
        : await agentIn(this.#agent, config, this.#folder, env?.source ?? null, parts);
    const groupEvaluator =
      this.#given.groupEvaluator ?? (await loadGroupEvaluator(config, this.#folder));
    const { warnings: dataWarnings, ...tasks } = await loadTasks(config, this.#folder, {
      ...this.#given,
      environment: env?.source ?? null,
      sources,
      ...(signal === undefined ? {} : { signal }),
    });
    await using opened = await openBackend(config, this.#folder, { ...this.#given, listeners });
    const { backend } = opened;
    if (backend !== this.#given.backend) this.#checkBackend(backend);
    await using teacher = createTeacher(config, this.#folder, this.#given.onPull);
    const hint = await loadHint(config, this.#folder);
    const isBackendLoss = (name: string): boolean =>
      (backend.capabilities.losses as readonly string[]).includes(name);
    const loaded = await loadAlgorithms(
      config,
      this.#folder,
      (name) => name.startsWith("code#") || isBackendLoss(name),
    );
    const functions = withLoaded(this.#functions, loaded);
    requireFunctions(config, functions, isBackendLoss);
    return await executeRun({
      config,
      backend,
      training: rolloutTraining({
        ...tasks,
        ...functions,
        ...{ config, backend, rollouts },
        ...defined({ groupEvaluator, hint }),
        ...(teacher === null ? {} : { teacher }),
        warnings: [...this.#warnings, ...wayNotices(config, rollouts), ...dataWarnings],
      }),
      resume: resume ?? false,
      allowChanges: allowChanges === true,
      signal: signal ?? new AbortController().signal,
      listeners,
      trackers: createTrackers(config, this.#given.trackers),
    });
  }
}
