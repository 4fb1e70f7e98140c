/** Codex (npm: @openai/codex), with a custom model provider. */
import { join } from "node:path";
import type { CommandAgentOptions } from "../command/command-options.ts";
import { commandPart, type ToolOptions } from "./tool-options.ts";

/**
 * `codex exec` as a command, with a `CODEX_HOME` of the rollout: no login, no history, no analytics. Its
 * commands run without asking and without its sandbox, so give it a folder or a container in which that is
 * safe.
 *
 * @example
 * const agentFlow = commandAgent(codex({ program: "node_modules/.bin/codex" }));
 */
export function codex<Metadata = Record<string, unknown>>(
  options: ToolOptions<Metadata> = {},
): CommandAgentOptions<Metadata> {
  const { program = "codex", args = [], env = {} } = options;
  return {
    ...commandPart(options),
    command: [
      program,
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      ...args,
      "-",
    ],
    env: ({ folders }) => ({ CODEX_HOME: join(folders.home, ".codex"), ...env }),
    homeFiles: ({ config }) => ({ ".codex/config.toml": configOf(config.model, config.baseUrl) }),
  };
}

/** A string of JSON is one of TOML. */
const configOf = (model: string, baseUrl: string): string => `model = ${JSON.stringify(model)}
model_provider = "agent-trainer"
check_for_update_on_startup = false
web_search = "disabled"

[agents]
enabled = false

[model_providers.agent-trainer]
name = "agent-trainer"
base_url = ${JSON.stringify(baseUrl)}
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
apps = false
goals = false
plugins = false
tool_suggest = false
image_generation = false

[analytics]
enabled = false

[history]
persistence = "none"
`;
