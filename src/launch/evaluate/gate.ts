/** The gate between a trained model and its use: both are evaluated on the same tasks, and a rule decides. */
import { join } from "node:path";
import { AgentTrainerError } from "../../core/errors.ts";
import type { Task, TaskRow } from "../../core/task.ts";
import { isEvaluation } from "../../runs/evaluations/evaluation-folder.ts";
import {
  gateFolders,
  type GateFolders,
  type GateResult,
  regressionFolder,
} from "../../runs/evaluations/gate-folders.ts";
import { checkRule, type GateRule } from "../../runs/evaluations/gate-rule.ts";
import { readRegressions } from "../../runs/evaluations/regression-set.ts";
import { defined } from "../../util/defined.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { evaluate } from "./evaluate.ts";
import type { EvaluationOptions, EvaluationRunOptions } from "./evaluation-options.ts";

type Model = NonNullable<EvaluationRunOptions<never>["model"]>;

/**
 * Options of {@link gate}: those of an evaluation, for both models.
 * @typeParam Row Type of the rows of `dataset`; inferred.
 */
export type GateOptions<Row extends object = Task | TaskRow> = EvaluationOptions<Row> &
  Omit<GateFolders, "current" | "candidate"> & {
    /** The model in use: what `evaluate` takes as `model`, or the folder of an evaluation of it. */
    readonly current: Model;
    /** The model that may take its place, likewise. */
    readonly candidate: Model;
    /** Where both evaluations and the report, `gate.json`, are written; evaluations that are there are resumed. */
    readonly folder: string;
    readonly model?: never;
    readonly resume?: never;
    readonly rule?: GateRule;
  };

/** Options of both evaluations. */
type Shared = EvaluationRunOptions<Task | TaskRow> & { readonly tasks?: readonly Task[] };

/** @throws AgentTrainerError ABORTED when it was interrupted. */
async function measure(options: Shared, model: Model, folder: string): Promise<void> {
  const { status } = await evaluate({
    ...(options as EvaluationOptions),
    model,
    folder,
    resume: isEvaluation(folder),
  });
  if (status !== "interrupted") return;
  throw new AgentTrainerError({
    code: "ABORTED",
    message: "The gate was interrupted before its verdict.",
    hint: `Run it again with the same folder to continue; ${folder} keeps its results.`,
  });
}

/**
 * Evaluates the model in use and a candidate on the same held-out tasks, and on a regression set where one is
 * named, and decides by a rule whether the candidate is better. A model may be given as the folder of an
 * evaluation, and is not evaluated again.
 *
 * @typeParam Row Type of the rows of `dataset`; inferred.
 * @throws ConfigError for limits out of their bounds; ABORTED when it is interrupted.
 *
 * @example
 * const { verdict, misses } = await gate({
 *   ...{ agentFlow, evaluator, dataset: heldOut },
 *   current: "runs/shop/best",
 *   candidate: "runs/shop-2",
 *   folder: "gates/shop-2",
 *   rule: { minGain: 0.01, slices: ["language"] },
 * });
 */
export async function gate<Row extends object = Task | TaskRow>(
  options: GateOptions<Row>,
): Promise<GateResult> {
  const { current, candidate, regressions, grow, folder, rule = {}, ...rest } = options;
  checkRule(rule);
  const shared = rest as unknown as Shared;
  const held = regressions === undefined ? [] : readRegressions(regressions);
  const measured = async (model: Model, name: string): Promise<string> => {
    if (typeof model === "string" && isEvaluation(model)) return model;
    const path = join(folder, name);
    await measure(shared, model, path);
    if (held.length > 0) await measure({ ...shared, tasks: held }, model, regressionFolder(path));
    return path;
  };
  const folders = {
    current: await measured(current, "current"),
    candidate: await measured(candidate, "candidate"),
    ...defined({ regressions, grow }),
  };
  const result = gateFolders(folders, rule);
  writeFileAtomicSync(join(folder, "gate.json"), `${JSON.stringify(result, null, 2)}\n`);
  return result;
}
