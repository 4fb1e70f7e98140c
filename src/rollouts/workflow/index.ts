/**
 * `agent-trainer/workflows`: ready-made workflows for an agent in an environment. The class `Workflow`,
 * from which all of them derive, is in `agent-trainer`.
 *
 * @module workflows
 */

export { MultiTurnWorkflow, SingleTurnWorkflow } from "./multi-turn.ts";
export type { MultiTurnArgs } from "./multi-turn.ts";
export { CumulativeWorkflow } from "./cumulative.ts";
export type { CumulativeArgs } from "./cumulative.ts";
export type { Agent, Environment, EnvironmentStart, EnvironmentStep } from "./agent-environment.ts";
