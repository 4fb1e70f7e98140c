/** An evaluation: agent and evaluator as in training, one attempt per rollout, and nothing is trained. */
import { refuseRedacted } from "../../config/checks/redacted.ts";
import { ConfigError } from "../../core/errors.ts";
import { requireKnownOptions } from "../../core/known-options.ts";
import type { EnvironmentSource } from "../../core/environment.ts";
import type { Task, TaskRow } from "../../core/task.ts";
import { requireAgent } from "../load-agent.ts";
import { agentIn, openRunEnvironment } from "../run-environment.ts";
import { loadTasks } from "../run-datasets.ts";
import { runGuarded } from "../../trainer/run-exit.ts";
import { measureAttempts, validationRequests } from "../../trainer/steppers/measure.ts";
import { type AgentSpec, hasAgent } from "../../rollouts/service/agent-spec.ts";
import { createRolloutService } from "../../rollouts/service/gateway-service.ts";
import { hashDataset } from "../../runs/run-identity.ts";
import { type EvaluationConfig, evaluationConfig } from "./evaluation-config.ts";
import { openEvaluationFolder } from "../../runs/evaluations/evaluation-folder.ts";
import { type EvaluationItem, itemKey, itemOf } from "../../runs/evaluations/evaluation-item.ts";
import {
  type EvaluationOptions,
  evaluationOptionNames,
  type EvaluationResult,
  type EvaluationRunOptions,
} from "./evaluation-options.ts";
import { type LocatedModel, locateModel } from "./locate-model.ts";
import { startModel } from "./start-model.ts";
import { evaluationBudget } from "./evaluation-budget.ts";
import { evaluationEvents } from "./evaluation-events.ts";
import { meteredService } from "../../trainer/budget/metered.ts";
import { redact } from "../../util/redact.ts";
import { defined } from "../../util/defined.ts";
import {
  type EvaluationSummary,
  type SummaryFacts,
  summarize,
} from "../../runs/evaluations/summary.ts";

type Given = EvaluationRunOptions<Task | TaskRow> & {
  /** Taken as they are, in place of a dataset: the regression set of a gate. */
  readonly tasks?: readonly Task[];
};

async function tasksOf(
  { tasks: ready, dataset, limit, signal, onPull, onWarning }: Given,
  { config, folder }: EvaluationConfig,
  environment: EnvironmentSource | null,
): Promise<readonly Task[]> {
  if (ready !== undefined) return ready;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1)) {
    throw new ConfigError({
      message: `limit must be an integer of at least 1, but it is ${limit}.`,
      fields: { option: "limit", value: limit },
    });
  }
  const { sources, val, valFraction } = config.dataset;
  if (dataset === undefined && sources.length > 0) {
    throw new ConfigError({
      message: `An evaluation has one dataset, and dataset.sources names ${sources.length}.`,
      hint: "Evaluate them one by one: pass --dataset FILE (in code: dataset).",
      fields: { option: "dataset.sources" },
    });
  }
  const { valSplit } = config.environment;
  const inEnv = environment !== null && valSplit !== null;
  if (dataset === undefined && val === null && valFraction === 0 && !inEnv) {
    throw new ConfigError({
      message:
        environment === null
          ? "The evaluation has no dataset: dataset.val is not set."
          : "The evaluation has no tasks: environment.val_split is not set.",
      hint:
        environment === null
          ? "Set dataset.val in the configuration, or pass --dataset FILE (in code: dataset)."
          : "Set environment.val_split to a split of the environment, or pass --dataset FILE (in code: dataset).",
      fields: { option: "dataset.val" },
    });
  }
  // The training data plays no part, unless validation tasks are split from it.
  const isSplit = dataset === undefined && val === null && !inEnv;
  const { train } = config.dataset;
  const { valTasks: tasks, warnings } = await loadTasks(
    {
      ...config,
      dataset: { ...config.dataset, train: isSplit ? train : null, leakCheck: false },
    },
    folder,
    {
      ...defined({ valDataset: dataset, signal, onPull }),
      environment,
      valOnly: true,
    },
  );
  for (const message of warnings) onWarning?.(message);
  return limit === undefined ? tasks : tasks.slice(0, limit);
}

async function loadRollouts(
  given: Given,
  { config, folder }: EvaluationConfig,
  environment: EnvironmentSource | null,
) {
  const agent = given as unknown as AgentSpec;
  const isPassed = hasAgent(agent);
  if (!isPassed && environment === null) requireAgent(config, given);
  return await agentIn(isPassed ? agent : null, config, folder, environment, agent);
}

function labelOf(located: LocatedModel, { config }: EvaluationConfig): string {
  if (located.kind === "config") return config.model.name;
  return located.kind === "name" ? located.name : located.label;
}

/** Results so far, in the order of the tasks, which decides the last bits of means. */
function inOrder(
  items: readonly EvaluationItem[],
  tasks: readonly Task[],
): readonly EvaluationItem[] {
  const place = new Map(tasks.map(({ id }, index) => [id, index]));
  const at = ({ id }: EvaluationItem): number => place.get(id) ?? tasks.length;
  return items.toSorted((a, b) => at(a) - at(b) || a.attempt - b.attempt);
}

const noFolder = { done: [], warnings: [], add: () => {}, summarize: () => {}, discard: () => {} };

/**
 * Runs an agent flow and its evaluator against a model, without training: one attempt per rollout, `n` at
 * each task. An attempt that fails counts as incorrect, with its reason, and is never repeated.
 *
 * With the model, seed and options of a run, the numbers are those of the run's validation, digit by digit.
 *
 * @typeParam Row Type of the rows of `dataset`; inferred.
 * @throws AgentTrainerError TOO_MANY_FAILURES when attempts keep failing without a model response, as with an
 * endpoint that is down; results so far are in `folder`.
 *
 * @example
 * const { summary } = await evaluate({
 *   agentFlow: agent,
 *   evaluator: (task, episode) => episode.output === task.metadata.answer,
 *   dataset: [{ instruction: "What is 2 + 2?", answer: "4" }],
 *   model: { url: "http://localhost:8000/v1" },
 *   n: 4,
 * });
 * console.log(summary.passAt["1"]?.mean, summary.reward);
 *
 * @example <caption>A trained run, in the words of its configuration</caption>
 * const { config } = loadConfig({ file: "shop.yaml" });
 * const { summary } = await evaluate({ config, model: "runs/shop", folder: "evals/shop" });
 */
export async function evaluate<Row extends object = Task | TaskRow>(
  options: EvaluationOptions<Row>,
): Promise<EvaluationResult> {
  // The gate passes tasks that it has read.
  requireKnownOptions("evaluate", options, { ...evaluationOptionNames, tasks: true });
  const given = options as unknown as Given;
  const signal = given.signal ?? new AbortController().signal;
  const warn = (message: string): void => given.onWarning?.(message);
  if (given.resume === true && given.folder === undefined) {
    throw new ConfigError({
      message: "resume needs the folder of the evaluation that is to be resumed.",
      hint: "Pass folder, too.",
      fields: { option: "resume" },
    });
  }
  const located = await locateModel(given.model);
  const resolved = evaluationConfig(given, located);
  const { config } = resolved;
  refuseRedacted(config, (key) => /^(?:env|agent_command|environment|dataset)(?:\.|$)/u.test(key));
  await using env = await openRunEnvironment(config, resolved.folder, given.env);
  const rollouts = await loadRollouts(given, resolved, env?.source ?? null);
  const tasks = await tasksOf(given, resolved, env?.source ?? null);
  const { nVal: n, val: sampling, failureReward, solvedReward } = config.rollout;
  if (n > 1 && sampling.temperature === 0 && located.kind !== "target") {
    warn(
      `rollout.val.temperature is 0, so the ${n} attempts at a task sample the same: pass@k is pass@1.`,
    );
  }
  const requests = validationRequests(config, tasks, "eval");
  const facts: Omit<SummaryFacts, "status"> = {
    model: labelOf(located, resolved),
    n,
    seed: config.trainer.seed,
    planned: requests.length,
    failureReward,
  };
  const { folder: path = null, resume = false } = given;
  const { model, seed } = facts;
  const dataHash = hashDataset(tasks);
  const settings = {
    model,
    n,
    seed,
    sampling,
    failureReward,
    solvedReward,
    tasks: tasks.length,
    dataHash,
  };
  using record =
    path === null
      ? { ...noFolder, [Symbol.dispose]: () => {} }
      : openEvaluationFolder(path, settings, resume);
  for (const message of record.warnings) warn(message);
  const items: EvaluationItem[] = [...record.done];
  const budget = evaluationBudget(config, located, path, resume);
  const events = evaluationEvents({ config, folder: path, trackers: given.trackers ?? [], warn });
  const summaryOf = (status: EvaluationSummary["status"]): EvaluationSummary => {
    const summary = summarize(inOrder(items, tasks), { ...facts, status });
    record.summarize(summary);
    return summary;
  };
  const result = async (
    status: EvaluationResult["status"],
    message: string | null = null,
  ): Promise<EvaluationResult> => {
    const summary = summaryOf(status);
    await events.end(summary, message);
    return { status, folder: path, summary, items: inOrder(items, tasks) };
  };
  const done = new Set(record.done.map(itemKey));
  const left = requests.filter(
    ({ task, rolloutIndex }) => !done.has(itemKey({ id: task.id, attempt: rolloutIndex + 1 })),
  );
  /** What an earlier process measured stays. */
  const fail = (status: "failed" | "interrupted"): EvaluationSummary | null => {
    if (items.length > 0 || resume) return summaryOf(status);
    record.discard();
    return null;
  };
  /** The attempts that are left, until a limit of the budget cuts them off. */
  const measure = async (own: AbortSignal): Promise<void> => {
    await using started = await startModel(located, resolved, given, own);
    budget.paidByHour(started.usdPerHour);
    await using service = await createRolloutService({
      ...meteredService(started.target, budget),
      rollouts,
      config,
      weightVersion: started.weightVersion,
      keepsUntrainable: true,
    });
    events.begin(resume);
    await measureAttempts({
      requests: left,
      run: service.run,
      concurrency: config.workflow.nParallelTasks,
      signal: own,
      onWarning: warn,
      onEpisode(episode, wallMs) {
        const item = itemOf(episode, wallMs);
        record.add(item, episode);
        items.push(item);
        given.onEpisode?.(episode);
        given.onResult?.(item, { done: items.length, planned: requests.length });
      },
    });
  };
  return await runGuarded<EvaluationResult>({
    what: "evaluation",
    signal,
    onExit: (exit) => void fail(exit.status),
    async work(own, escaped) {
      let whyStopped = left.length > 0 ? budget.whyStop : null;
      if (left.length > 0 && whyStopped === null) {
        try {
          await measure(AbortSignal.any([own, budget.signal]));
        } catch (error) {
          if (own.aborted || !budget.signal.aborted) throw error;
          whyStopped = budget.whyStop;
        } finally {
          budget.keep();
        }
      }
      const failure = escaped();
      if (failure !== null) warn(failure.message);
      if (whyStopped === null) return await result("completed");
      warn(whyStopped);
      return await result("out_of_budget", whyStopped);
    },
    onInterrupt: () => result("interrupted"),
    async onFailure(failure) {
      const summary = fail("failed");
      const message = failure instanceof Error ? failure.message : String(failure);
      if (summary !== null) await events.end(summary, redact(message));
    },
  });
}
