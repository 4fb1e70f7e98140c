/** opencode (npm: opencode-ai), with a custom provider. */
import type { CommandAgentOptions } from "../command/command-options.ts";
import { commandPart, type ToolOptions } from "./tool-options.ts";

/**
 * `opencode run` as a command: no login, no sharing, no updates, no list of models from the network. Its
 * tools run without asking, so give it a folder or a container in which that is safe.
 *
 * @example
 * const agentFlow = commandAgent(opencode({ timeoutMs: 300_000 }));
 */
export function opencode<Metadata = Record<string, unknown>>(
  options: ToolOptions<Metadata> = {},
): CommandAgentOptions<Metadata> {
  const { program = "opencode", args = [], env = {} } = options;
  return {
    ...commandPart(options),
    command: ({ config }) => [program, "run", "--model", `agent-trainer/${config.model}`, ...args],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      ...env,
    },
    homeFiles: ({ config: { model, baseUrl } }) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        autoupdate: false,
        share: "disabled",
        permission: "allow",
        small_model: `agent-trainer/${model}`,
        provider: {
          "agent-trainer": {
            npm: "@ai-sdk/openai-compatible",
            name: "agent-trainer",
            options: { baseURL: baseUrl, apiKey: "{env:OPENAI_API_KEY}" },
            models: { [model]: { name: model } },
          },
        },
      }),
    }),
  };
}
