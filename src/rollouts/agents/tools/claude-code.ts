/** Claude Code (npm: @anthropic-ai/claude-code), with a gateway as its documentation describes it. */
import { join } from "node:path";
import type { CommandAgentOptions } from "../command/command-options.ts";
import { commandPart, type ToolOptions } from "./tool-options.ts";

/**
 * Claude Code in print mode as a command: no login, settings or memory of the user, no telemetry, updates or
 * error reports. Its tools run without asking, so give it a folder or a container in which that is safe.
 *
 * @example
 * const agentFlow = commandAgent(claudeCode({ args: ["--max-turns", "20"] }));
 */
export function claudeCode<Metadata = Record<string, unknown>>(
  options: ToolOptions<Metadata> = {},
): CommandAgentOptions<Metadata> {
  const { program = "claude", args = [], env = {} } = options;
  return {
    ...commandPart(options),
    command: ({ config }) => [
      program,
      "--print",
      "--model",
      config.model,
      "--setting-sources",
      "",
      "--strict-mcp-config",
      "--no-session-persistence",
      "--allowed-tools",
      "Bash,Edit,Write,Read,Glob,Grep",
      ...args,
    ],
    env: ({ folders }) => ({
      // An empty folder: a stored login would win over the key.
      CLAUDE_CONFIG_DIR: join(folders.home, ".claude"),
      // Of both keys it would send the other one.
      ANTHROPIC_AUTH_TOKEN: "",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_TELEMETRY: "1",
      ...env,
    }),
  };
}
