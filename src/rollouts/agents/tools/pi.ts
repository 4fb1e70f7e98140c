/** pi (npm: @mariozechner/pi-coding-agent), with a custom provider. */
import { join } from "node:path";
import type { CommandAgentOptions } from "../command/command-options.ts";
import { commandPart, type ToolOptions } from "./tool-options.ts";

/**
 * `pi --print` as a command: no login, no session, no network at its start. Its tools run without asking, so
 * give it a folder or a container in which that is safe.
 *
 * @example
 * const agentFlow = commandAgent(pi({ args: ["--tools", "read,bash,edit,write"] }));
 */
export function pi<Metadata = Record<string, unknown>>(
  options: ToolOptions<Metadata> = {},
): CommandAgentOptions<Metadata> {
  const { program = "pi", args = [], env = {} } = options;
  return {
    ...commandPart(options),
    command: ({ config }) => [
      program,
      "--print",
      "--no-session",
      "--provider",
      "agent-trainer",
      "--model",
      config.model,
      ...args,
    ],
    env: ({ folders }) => ({
      PI_CODING_AGENT_DIR: join(folders.home, ".pi", "agent"),
      PI_OFFLINE: "1",
      PI_TELEMETRY: "0",
      ...env,
    }),
    homeFiles: ({ config: { model, baseUrl } }) => ({
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          "agent-trainer": {
            baseUrl,
            api: "openai-completions",
            // The name of the variable.
            apiKey: "OPENAI_API_KEY",
            models: [{ id: model }],
          },
        },
      }),
    }),
  };
}
