/**
 * `agent-trainer/agents`: agents that run in separate processes, in any language.
 *
 * @module agents
 */
export { commandAgent } from "./command/command-agent.ts";
export type { CommandAgentOptions, CommandRollout, PerRollout } from "./command/command-options.ts";
export { httpAgent, type HttpAgentOptions } from "./http/http-agent.ts";
export type { Files, RolloutFolders } from "./process/rollout-folder.ts";
export { claudeCode } from "./tools/claude-code.ts";
export { codex } from "./tools/codex.ts";
export { opencode } from "./tools/opencode.ts";
export { toolSideCalls } from "./tools/side-calls.ts";
export { pi } from "./tools/pi.ts";
export type { ToolOptions } from "./tools/tool-options.ts";
export { dockerAgent, type DockerAgentOptions } from "./docker/docker-agent.ts";
