/**
 * A workflow class as a rollout program: a new instance for each attempt, its deadline, and its
 * cleanup.
 */
import type { AgentConfig } from "../../core/agent.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { startDeadline } from "../../core/deadline.ts";
import { describeValue } from "../failures/error-facts.ts";
import type { FlowResult, RolloutProgram } from "../programs/program.ts";
import { evaluationOf } from "../programs/run-result.ts";
import { endedBy, type ThrownEnding } from "../failures/termination.ts";
import { raceAbort } from "../../util/abort.ts";
import type { Workflow, WorkflowClass, WorkflowOptions } from "./workflow.ts";

/** Limit for all cleanups registered by `onEnd` together. */
const cleanUpTimeoutMs = 10_000;

/** @throws ConfigError when the class cannot be constructed, or an argument is out of range. */
export function workflowProgram<Metadata>(
  workflowClass: WorkflowClass<Metadata>,
  args: object & WorkflowOptions = {},
): RolloutProgram<Metadata> {
  checkClass(workflowClass);
  checkOptions(args);
  return {
    what: "The workflow",
    scoresItself: true,
    limitsTurns: true,
    run: async (task, config) => await runWorkflow(workflowClass, args, task, config),
  };
}

async function runWorkflow<Metadata>(
  workflowClass: WorkflowClass<Metadata>,
  args: object & WorkflowOptions,
  task: Task<Metadata>,
  config: AgentConfig,
): Promise<FlowResult> {
  const deadline = startDeadline("The workflow", args.timeoutMs ?? Infinity, config.signal);
  const workflow = new workflowClass({ ...config, signal: deadline.signal }, args as never);
  let ending: Ending | null = null;
  let cleanUpsFailed = 0;
  try {
    ending = await endingOf(workflow, task, config, deadline);
  } finally {
    deadline.dispose();
    cleanUpsFailed = await cleanUp(workflow);
  }
  const { reports, isCorrect, metrics } = workflow.summarise();
  const isScored = reports.some(({ reward }) => reward !== undefined);
  return {
    ...ending,
    reports,
    metrics: cleanUpsFailed === 0 ? metrics : { ...metrics, cleanups_failed: cleanUpsFailed },
    ...(isScored ? { evaluation: evaluationOf(reports, isCorrect) } : {}),
  };
}

/** Without a reason if the workflow returned: then its calls determine it. */
interface Ending extends Partial<ThrownEnding> {
  readonly output: unknown;
}

async function endingOf<Metadata>(
  workflow: Workflow<object, Metadata>,
  task: Task<Metadata>,
  config: AgentConfig,
  deadline: ReturnType<typeof startDeadline>,
): Promise<Ending> {
  try {
    const output = await raceAbort((async () => await workflow.run(task))(), deadline.signal);
    return { output };
  } catch (error) {
    const ended = deadline.hasPassed()
      ? ({ terminationReason: "timeout" } as const)
      : endedBy(error);
    if (ended === null || config.signal.aborted) throw error;
    // Stops calls that other branches of the workflow still make.
    deadline.abort(error);
    return { output: undefined, ...ended };
  }
}

/** Number of cleanups that failed; one that times out has failed. */
async function cleanUp(workflow: Workflow<object, never>): Promise<number> {
  const deadline = startDeadline("The cleanup of the workflow", cleanUpTimeoutMs);
  try {
    return await raceAbort(workflow.end(), deadline.signal);
  } catch {
    return 1;
  } finally {
    deadline.dispose();
  }
}

function checkClass(workflowClass: unknown): void {
  const prototype: unknown =
    typeof workflowClass === "function" ? workflowClass.prototype : undefined;
  if (typeof (prototype as { run?: unknown } | undefined)?.run === "function") return;
  throw new ConfigError({
    message: `workflowClass is ${describeValue(workflowClass)}, not a class with a method run(task).`,
    hint: "Pass the class itself, such as class MyWorkflow extends Workflow { ... }.",
  });
}

function checkOptions({ gamma, rewardBonusCoeff, timeoutMs }: WorkflowOptions): void {
  const check = (name: string, value: unknown, isValid: boolean, allowed: string): void => {
    if (value === undefined || isValid) return;
    throw new ConfigError({
      message: `workflowArgs.${name} is ${describeValue(value)}, but must be ${allowed}.`,
    });
  };
  const within = (value: unknown, low: number, high: number): boolean =>
    typeof value === "number" && value >= low && value <= high;
  check("gamma", gamma, within(gamma, 0, 1), "a number from 0 to 1");
  check(
    "rewardBonusCoeff",
    rewardBonusCoeff,
    within(rewardBonusCoeff, 0, Number.MAX_VALUE),
    "a number of at least 0",
  );
  check(
    "timeoutMs",
    timeoutMs,
    within(timeoutMs, Number.MIN_VALUE, Infinity),
    "a positive number of milliseconds",
  );
}
