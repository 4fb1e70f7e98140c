/**
 * The agent interfaces: whichever the user passed becomes one rollout program. Refuses none, two, and
 * options that belong to another interface.
 */
import type { AgentFlow, AgentRunFunction, Evaluator } from "../../core/agent.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TaskHooks } from "../../core/hooks.ts";
import { requireCallable } from "../../rollout/callable.ts";
import { flowProgram, runFunctionProgram } from "../../rollout/function-programs.ts";
import type { RolloutProgram } from "../../rollout/program.ts";
import type { Agent, Environment, Maker } from "../../workflow/agent-environment.ts";
import { MultiTurnWorkflow } from "../../workflow/multi-turn.ts";
import { workflowProgram } from "../../workflow/workflow-program.ts";
import type { WorkflowClass } from "../../workflow/workflow.ts";

/**
 * An agent, its score, and its hooks. Pass exactly one of `agentFlow`, `workflow`, `agent` with
 * `env`, and `agentRunFunc`.
 * @typeParam Metadata Type of `task.metadata`.
 */
export interface AgentSpec<Metadata = Record<string, unknown>> {
  /** A function, or an object with a method `run`, that calls the model. Needs `evaluator` or `hooks`. */
  readonly agentFlow?: AgentFlow<Metadata>;
  /** A class that extends `Workflow`; it assigns rewards itself. */
  readonly workflow?: WorkflowClass<Metadata>;
  /**
   * Arguments of `workflow`: those of its class, and `gamma`, `rewardBonusCoeff`, `timeoutMs`. With
   * `agent` and `env`: these three and `maxSteps`.
   * @default {}
   */
  readonly workflowArgs?: object;
  /** An agent that acts in `env`; see `MultiTurnWorkflow` for the loop. */
  readonly agent?: Maker<Agent>;
  /**
   * The environment of `agent`; it receives the task's metadata and `envArgs`. The reward of the
   * rollout is that of its steps.
   */
  readonly env?: Maker<Environment>;
  /** Arguments of `agent`. @default {} */
  readonly agentArgs?: object;
  /** Arguments of `env`, in addition to the task's metadata. @default {} */
  readonly envArgs?: object;
  /** A function that returns the reward, or trajectories with rewards. */
  readonly agentRunFunc?: AgentRunFunction<Metadata>;
  /** Scores each rollout. `hooks.setUp` may return another evaluator for its task. */
  readonly evaluator?: Evaluator<Metadata>;
  /** Setup and teardown around each attempt at a task. */
  readonly hooks?: TaskHooks<Metadata>;
}

/** What the rollouts of a run consist of. */
export interface Rollouts<Metadata = Record<string, unknown>> {
  readonly program: RolloutProgram<Metadata>;
  readonly evaluator: Evaluator<Metadata> | null;
  readonly hooks?: TaskHooks<Metadata>;
}

const ways = ["agentFlow", "workflow", "agent", "agentRunFunc"] as const;
type Way = (typeof ways)[number];

/** Options that apply to some agent interfaces only. */
const partOf: Readonly<Record<string, readonly Way[]>> = {
  workflowArgs: ["workflow", "agent"],
  env: ["agent"],
  agentArgs: ["agent"],
  envArgs: ["agent"],
  evaluator: ["agentFlow", "workflow", "agent"],
};

/**
 * @throws ConfigError unless exactly one interface was given, with all its parts and of the right
 * types.
 */
export function resolveAgent<Metadata>(given: AgentSpec<Metadata>): Rollouts<Metadata> {
  const taken = ways.filter((way) => given[way] !== undefined && given[way] !== null);
  const [way] = taken;
  if (way === undefined) {
    throw new ConfigError({
      message: "AgentTrainer needs an agent.",
      hint: `Pass one of ${ways.join(", ")}.`,
    });
  }
  if (taken.length > 1) {
    throw new ConfigError({
      message: `AgentTrainer was given ${taken.join(" and ")}, but each of them is a complete agent.`,
      hint: "Pass one of them.",
      fields: { taken },
    });
  }
  checkParts(given, way);
  const { evaluator = null, hooks } = given;
  return {
    program: programOf(given),
    evaluator,
    ...(hooks === undefined ? {} : { hooks }),
  };
}

function programOf<Metadata>(given: AgentSpec<Metadata>): RolloutProgram<Metadata> {
  if (given.agentFlow !== undefined) {
    requireCallable("agentFlow", given.agentFlow, "run");
    return flowProgram(given.agentFlow);
  }
  const { workflow, workflowArgs = {}, agent, env, agentArgs = {}, envArgs = {} } = given;
  if (workflow !== undefined) return workflowProgram(workflow, workflowArgs);
  if (agent !== undefined) {
    const parts = { agentClass: agent, envClass: env, agentArgs, envArgs };
    return workflowProgram(MultiTurnWorkflow as WorkflowClass<Metadata>, {
      ...workflowArgs,
      ...parts,
    });
  }
  return runFunctionProgram(given.agentRunFunc as AgentRunFunction<Metadata>);
}

function checkParts(given: AgentSpec<never>, way: Way): void {
  const { evaluator, hooks, env } = given;
  for (const [part, its] of Object.entries(partOf)) {
    if (given[part as keyof typeof given] === undefined || its.includes(way)) continue;
    throw new ConfigError({
      message: `AgentTrainer was given ${way} and ${part}, which has no meaning with it.`,
      hint: `Remove ${part}, or use it with ${its.join(" or ")}.`,
      fields: { way, part },
    });
  }
  if (hooks !== undefined && typeof hooks.setUp !== "function") {
    throw new ConfigError({
      message: "hooks has no method setUp(task, info).",
      hint: "Pass { setUp(task, info) { return { env, evaluator, tearDown }; } }.",
    });
  }
  if (evaluator !== undefined) requireCallable("evaluator", evaluator, "evaluate");
  if (way === "agentFlow" && evaluator === undefined && hooks === undefined) {
    throw new ConfigError({
      message: "AgentTrainer needs evaluator: an agentFlow does not score itself.",
      hint: "Pass an evaluator, or hooks whose setUp returns one for each task.",
    });
  }
  if (way === "agent" && env === undefined) {
    throw new ConfigError({
      message: "AgentTrainer was given agent without env.",
      hint: "Pass the class of the environment that the agent acts in.",
    });
  }
  if (way === "agentRunFunc" && typeof given.agentRunFunc !== "function") {
    throw new ConfigError({
      message: `agentRunFunc must be a function (task, config), but is ${typeof given.agentRunFunc}.`,
    });
  }
}
