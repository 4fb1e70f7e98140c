/**
 * `agent-trainer/environments`: tasks, tools and rewards from servers of environments, and from your own classes.
 *
 * @module environments
 */

export { environment } from "./environment.ts";
export type { EnvironmentOptions } from "./environment.ts";
export { defineEnvironment } from "./class-source.ts";
export type { ClassEnvironmentOptions, ClassSource, ToolAction } from "./class-source.ts";
export { OpenEnvSource } from "./openenv/openenv-source.ts";
export type { OpenEnvOptions } from "./openenv/openenv-source.ts";
export { HarborSource } from "./harbor/harbor-source.ts";
export type { HarborOptions } from "./harbor/harbor-source.ts";
export { McpSource } from "./mcp/mcp-source.ts";
export type { McpOptions } from "./mcp/mcp-source.ts";
export { ReasoningGymSource } from "./reasoning-gym/reasoning-gym-source.ts";
export type { ReasoningGymOptions } from "./reasoning-gym/reasoning-gym-source.ts";
export { ReplaySource } from "./replay/replay-source.ts";
export type { ReplayOptions } from "./replay/replay-source.ts";
export { VerifiersSource } from "./verifiers/verifiers-source.ts";
export type { VerifiersOptions } from "./verifiers/verifiers-source.ts";
export { userSimulator } from "./user/user-simulator.ts";
export type { SimulatedUser, UserSimulator, UserSimulatorOptions } from "./user/user-simulator.ts";
export { scriptedUser } from "./user/scripted-user.ts";
export type { UserEndpoint, UserMessage, UserModel, UserScript } from "./user/user-model.ts";
export type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentSource,
  EnvironmentTool,
  EpisodeOutcome,
  ModelAddress,
  OpenEpisode,
  PromptMessage,
  TaskRange,
} from "../core/environment.ts";
