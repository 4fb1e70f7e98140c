/**
 * The four kinds of agents: whichever the user passed becomes one rollout program. The types refuse
 * none, two, and options that belong to another kind.
 */
import type { AgentFlow, AgentRunFunction, Evaluator, GroupEvaluator } from "../../core/agent.ts";
import { ConfigError } from "../../core/errors.ts";
import type { OptionNames } from "../../core/known-options.ts";
import type { TaskHooks } from "../../core/hooks.ts";
import { requireCallable } from "../programs/callable.ts";
import { flowProgram, runFunctionProgram } from "../programs/function-programs.ts";
import type { RolloutProgram } from "../programs/program.ts";
import type { Agent, Environment, Maker } from "../workflow/agent-environment.ts";
import { MultiTurnWorkflow } from "../workflow/multi-turn.ts";
import { workflowProgram } from "../workflow/workflow-program.ts";
import type { WorkflowClass } from "../workflow/workflow.ts";
import { type GivenOf, givenOf, isGiven, defined } from "../../util/defined.ts";

interface WithHooks<Metadata> {
  /** Setup and teardown around each attempt at a task. */
  readonly hooks?: TaskHooks<Metadata> | null;
}

/**
 * An agent as a function, scored by an evaluator.
 * @typeParam Metadata Type of `task.metadata`.
 */
export interface AgentFlowSpec<Metadata = Record<string, unknown>> extends WithHooks<Metadata> {
  /** The agent: a function, or an object with a method `run`, that calls the model. */
  readonly agentFlow: AgentFlow<Metadata>;
  /** Scores each rollout. Optional where `hooks.setUp` returns the evaluator of each task. */
  readonly evaluator?: Evaluator<Metadata> | null;
}

/**
 * An agent as a function that returns its own reward.
 * @typeParam Metadata Type of `task.metadata`.
 */
export interface AgentRunFuncSpec<Metadata = Record<string, unknown>> extends WithHooks<Metadata> {
  /** A function that returns the reward of all of its calls, or trajectories with a reward each. */
  readonly agentRunFunc: AgentRunFunction<Metadata>;
}

/**
 * An agent as a class that runs one rollout and assigns rewards to its steps.
 * @typeParam Metadata Type of `task.metadata`.
 */
export interface WorkflowSpec<Metadata = Record<string, unknown>> extends WithHooks<Metadata> {
  /** A class that extends `Workflow`. */
  readonly workflowClass: WorkflowClass<Metadata>;
  /** Arguments of the class, and `gamma`, `rewardBonusCoeff` and `timeoutMs`. @default {} */
  readonly workflowArgs?: object | null;
  /** Scores each rollout. @default the rewards that the workflow assigns */
  readonly evaluator?: Evaluator<Metadata> | null;
}

/**
 * An agent that acts in an environment, whose steps have rewards; `MultiTurnWorkflow` is the loop.
 * @typeParam Metadata Type of `task.metadata`.
 */
export interface AgentEnvSpec<Metadata = Record<string, unknown>> extends WithHooks<Metadata> {
  /** Class of the agent; it receives `agentArgs`. */
  readonly agentClass: Maker<Agent>;
  /** Class of the environment; it receives the task's metadata and `envArgs`. */
  readonly envClass: Maker<Environment>;
  /** Arguments of the agent. @default {} */
  readonly agentArgs?: object | null;
  /** Arguments of the environment, in addition to the task's metadata. @default {} */
  readonly envArgs?: object | null;
  /** `maxSteps`, `gamma`, `rewardBonusCoeff` and `timeoutMs`. @default {} */
  readonly workflowArgs?: object | null;
  /** Scores each rollout. @default the rewards of the environment */
  readonly evaluator?: Evaluator<Metadata> | null;
}

/** Options that belong to another kind of agent, so that the compiler refuses them. */
type Without<Option extends keyof AnySpec> = { readonly [K in Option]?: null };

/** All options of the other kinds of agents. */
type Only<Spec> = Spec & Without<Exclude<keyof AnySpec, keyof Spec>>;

/** An agent flow does not score itself. */
type Scored<Metadata> =
  | { readonly evaluator: Evaluator<Metadata> }
  | { readonly hooks: TaskHooks<Metadata> };

/**
 * An agent, what scores it, and its hooks, in one of four forms: `agentFlow` with `evaluator`,
 * `agentRunFunc`, `workflowClass`, or `agentClass` with `envClass`.
 * @typeParam Metadata Type of `task.metadata`.
 */
export type AgentSpec<Metadata = Record<string, unknown>> =
  | (Only<AgentFlowSpec<Metadata>> & Scored<Metadata>)
  | Only<AgentRunFuncSpec<Metadata>>
  | Only<WorkflowSpec<Metadata>>
  | Only<AgentEnvSpec<Metadata>>;

/**
 * An agent in an environment that the option `env` names, which scores it: one of the four forms, of which
 * none needs an evaluator.
 * @typeParam Metadata Type of `task.metadata`.
 */
export type EnvironmentAgentSpec<Metadata = Record<string, unknown>> =
  | Only<AgentFlowSpec<Metadata>>
  | Only<AgentRunFuncSpec<Metadata>>
  | Only<WorkflowSpec<Metadata>>
  | Only<AgentEnvSpec<Metadata>>
  | (Omit<NoAgentSpec, "evaluator" | "hooks"> &
      WithHooks<Metadata> & { readonly evaluator?: Evaluator<Metadata> })
  | null;

/**
 * An agent as a function that nothing but a group evaluator scores.
 * @typeParam Metadata Type of `task.metadata`.
 */
export type GroupScoredAgentSpec<Metadata = Record<string, unknown>> = Only<
  AgentFlowSpec<Metadata>
> & { readonly groupEvaluator: GroupEvaluator<Metadata> };

/** No agent in code: the configuration names it. */
export type NoAgentSpec = Without<keyof AnySpec>;

/** All options at once, as JavaScript may pass them. */
export type AnyAgentSpec = AnySpec;
interface AnySpec<Metadata = Record<string, unknown>> {
  readonly agentFlow?: AgentFlow<Metadata> | null;
  readonly agentRunFunc?: AgentRunFunction<Metadata> | null;
  readonly workflowClass?: WorkflowClass<Metadata> | null;
  readonly workflowArgs?: object | null;
  readonly agentClass?: Maker<Agent> | null;
  readonly envClass?: Maker<Environment> | null;
  readonly agentArgs?: object | null;
  readonly envArgs?: object | null;
  readonly evaluator?: Evaluator<Metadata> | null;
  readonly hooks?: TaskHooks<Metadata> | null;
}

/** All options of an agent, of whichever kind. */
export const agentOptionNames: OptionNames<AnySpec> = {
  agentFlow: true,
  agentRunFunc: true,
  workflowClass: true,
  workflowArgs: true,
  agentClass: true,
  envClass: true,
  agentArgs: true,
  envArgs: true,
  evaluator: true,
  hooks: true,
};

/** What the rollouts of a run consist of. */
export interface Rollouts<Metadata = Record<string, unknown>> {
  readonly program: RolloutProgram<Metadata>;
  readonly evaluator: Evaluator<Metadata> | null;
  readonly hooks?: TaskHooks<Metadata>;
}

/** Options of which each is an agent. */
export const agentOptions = ["agentFlow", "agentRunFunc", "workflowClass", "agentClass"] as const;
type AgentOption = (typeof agentOptions)[number];

/** Options that apply to some kinds of agents only. */
const partOf: Readonly<Record<string, readonly AgentOption[]>> = {
  workflowArgs: ["workflowClass", "agentClass"],
  envClass: ["agentClass"],
  agentArgs: ["agentClass"],
  envArgs: ["agentClass"],
  evaluator: ["agentFlow", "workflowClass", "agentClass"],
};

/** Whether there is an agent among the options. */
export const hasAgent = (given: object): boolean =>
  agentOptions.some((option) => isGiven((given as AnySpec)[option]));

/**
 * The rollouts of a run. The compiler has checked a `AgentSpec` of TypeScript; the checks here are for
 * JavaScript and for modules that options name.
 * @param isGroupScored whether a group evaluator scores a flow without an evaluator.
 * @throws ConfigError unless there is exactly one agent, with all its parts.
 */
export function resolveAgent<Metadata>(
  spec: AgentSpec<Metadata>,
  isGroupScored = false,
): Rollouts<Metadata> {
  const given = givenOf(spec as AnySpec<Metadata>);
  const taken = agentOptions.filter((option) => isGiven(given[option]));
  const [option] = taken;
  if (option === undefined) {
    throw new ConfigError({
      message: "AgentTrainer needs an agent.",
      hint: `Pass one of ${agentOptions.join(", ")}.`,
    });
  }
  if (taken.length > 1) {
    throw new ConfigError({
      message: `AgentTrainer was given ${taken.join(" and ")}, but each of them is a complete agent.`,
      hint: "Pass one of them.",
      fields: { taken },
    });
  }
  checkParts(given, option, isGroupScored);
  const { evaluator = null, hooks } = given;
  return {
    program: programOf(given),
    evaluator,
    ...defined({ hooks }),
  };
}

function programOf<Metadata>(given: GivenOf<AnySpec<Metadata>>): RolloutProgram<Metadata> {
  const { agentFlow, agentRunFunc, workflowClass, workflowArgs = {}, ...parts } = given;
  if (agentFlow !== undefined) return flowProgram(agentFlow);
  if (agentRunFunc !== undefined) return runFunctionProgram(agentRunFunc);
  if (workflowClass !== undefined) return workflowProgram(workflowClass, workflowArgs);
  const { agentClass, envClass, agentArgs = {}, envArgs = {} } = parts;
  const turns = { agentClass, envClass, agentArgs, envArgs };
  return workflowProgram(MultiTurnWorkflow as WorkflowClass<Metadata>, {
    ...workflowArgs,
    ...turns,
  });
}

function checkParts(
  given: GivenOf<AnySpec<never>>,
  option: AgentOption,
  isGroupScored: boolean,
): void {
  const { evaluator, hooks } = given;
  for (const [part, its] of Object.entries(partOf)) {
    if (!isGiven(given[part as keyof AnySpec]) || its.includes(option)) continue;
    throw new ConfigError({
      message: `AgentTrainer was given ${option} and ${part}, which has no meaning with it.`,
      hint: `Remove ${part}, or use it with ${its.join(" or ")}.`,
      fields: { option, part },
    });
  }
  if (hooks !== undefined && typeof hooks.setUp !== "function") {
    throw new ConfigError({
      message: "hooks has no method setUp(task, info).",
      hint: "Pass { setUp(task, info) { return { env, evaluator, tearDown }; } }.",
    });
  }
  if (evaluator !== undefined) requireCallable("evaluator", evaluator, "evaluate");
  if (option === "agentFlow") {
    requireCallable("agentFlow", given.agentFlow, "run");
    if (evaluator === undefined && hooks === undefined && !isGroupScored) {
      throw new ConfigError({
        message: "AgentTrainer needs evaluator: an agentFlow does not score itself.",
        hint: "Pass an evaluator, hooks whose setUp returns one for each task, or to train without labels a groupEvaluator.",
      });
    }
  }
  if (option === "agentClass" && given.envClass === undefined) {
    throw new ConfigError({
      message: "AgentTrainer was given agentClass without envClass.",
      hint: "Pass the class of the environment that the agent acts in.",
    });
  }
  if (option === "agentRunFunc" && typeof given.agentRunFunc !== "function") {
    throw new ConfigError({
      message: `agentRunFunc must be a function (task, config), but is ${typeof given.agentRunFunc}.`,
    });
  }
}
