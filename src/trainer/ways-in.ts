/**
 * The ways into the trainer: whichever the user took becomes one rollout program. Refuses none, two, and
 * options that belong to another way.
 */
import type { AgentFlow, AgentRunFunction, Evaluator } from "../core/agent.ts";
import { ConfigError } from "../core/errors.ts";
import type { TaskHooks } from "../core/hooks.ts";
import { requireCallable } from "../rollout/callable.ts";
import { flowProgram, runFunctionProgram } from "../rollout/program.ts";
import type { RolloutProgram } from "../rollout/program.ts";

/** An agent, its score, and what surrounds them. Exactly one of the four ways. */
export interface WaysIn<Metadata = Record<string, unknown>> {
  /** First way: a function or an object with `run`. Needs `evaluator` or `hooks`. */
  readonly agentFlow?: AgentFlow<Metadata>;
  /** Second way: a function that returns the reward, or trajectories with rewards. */
  readonly agentRunFunc?: AgentRunFunction<Metadata>;
  /** The score of a rollout. A set-up hook may bring another one for its task. */
  readonly evaluator?: Evaluator<Metadata>;
  /** Set-up and tear-down around each attempt at a task. */
  readonly hooks?: TaskHooks<Metadata>;
}

/** What the rollouts of a run are made of. */
export interface Rollouts<Metadata = Record<string, unknown>> {
  readonly program: RolloutProgram<Metadata>;
  readonly evaluator: Evaluator<Metadata> | null;
  readonly hooks?: TaskHooks<Metadata>;
}

const ways = ["agentFlow", "agentRunFunc"] as const;

/** @throws ConfigError when it is not exactly one way, or a part is missing or of the wrong kind. */
export function readWayIn<Metadata>(given: WaysIn<Metadata>): Rollouts<Metadata> {
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
      message: `AgentTrainer was given ${taken.join(" and ")}, but each of them is an agent of its own.`,
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

function programOf<Metadata>(given: WaysIn<Metadata>): RolloutProgram<Metadata> {
  if (given.agentFlow !== undefined) {
    requireCallable("agentFlow", given.agentFlow, "run");
    return flowProgram(given.agentFlow);
  }
  return runFunctionProgram(given.agentRunFunc as AgentRunFunction<Metadata>);
}

function checkParts(given: WaysIn<never>, way: (typeof ways)[number]): void {
  const { evaluator, hooks } = given;
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
  if (way === "agentRunFunc" && evaluator !== undefined) {
    throw new ConfigError({
      message: "AgentTrainer was given agentRunFunc and evaluator, and both give the reward.",
      hint: "Leave evaluator out, or pass the function as agentFlow.",
    });
  }
}
