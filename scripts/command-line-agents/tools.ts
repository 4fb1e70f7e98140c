/** Command-line agents as a small model can use them: with a prompt of one line instead of their own. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeCode } from "../../src/rollouts/agents/tools/claude-code.ts";
import { codex } from "../../src/rollouts/agents/tools/codex.ts";
import type { CommandAgentOptions } from "../../src/rollouts/agents/command/command-options.ts";
import { opencode } from "../../src/rollouts/agents/tools/opencode.ts";
import { pi } from "../../src/rollouts/agents/tools/pi.ts";
import { root } from "../../test/integration/root.ts";
import type { Interface, ShellTask } from "./shell-tasks.ts";

const program = (name: string): string =>
  join(root, ".cache/command-line-agents/node_modules/.bin", name);
const systemPrompt = "You work with files in a shell.";

export interface Tool extends Interface {
  readonly options: () => CommandAgentOptions<ShellTask>;
}

/** A model class of mini-swe-agent without litellm, whose import takes seconds at each start. */
const plainModel = `import os
from minisweagent.models.openrouter_model import OpenRouterModel

class Plain(OpenRouterModel):
    def __init__(self, **options):
        super().__init__(**options)
        self._api_url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        self._api_key = os.environ["OPENAI_API_KEY"]
`;

/** mini-swe-agent (PyPI), with templates of one line in place of its own; JSON is YAML. */
const miniSweAgent = (): CommandAgentOptions<ShellTask> => ({
  command: ({ task, config, folders }) => [
    join(root, ".cache/command-line-agents/venv/bin/mini"),
    ...["--yolo", "--exit-immediately", "--cost-limit", "0"],
    ...["--model", config.model, "--model-class", "plain_model.Plain", "--task", task.instruction],
    ...["--config", join(folders.home, "mini.yaml"), "--output", join(folders.home, "run.json")],
  ],
  env: ({ folders }) => ({
    MSWEA_CONFIGURED: "true",
    MSWEA_SILENT_STARTUP: "1",
    MSWEA_GLOBAL_CONFIG_DIR: folders.home,
    MSWEA_COST_TRACKING: "ignore_errors",
    MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT: "1",
    PYTHONPATH: folders.home,
  }),
  homeFiles: {
    "plain_model.py": plainModel,
    "mini.yaml": JSON.stringify({
      agent: {
        system_template: systemPrompt,
        instance_template: "{{task}}",
        step_limit: 4,
        max_consecutive_format_errors: 1,
      },
      model: { observation_template: "{{output.output}}" },
    }),
  },
});

export const tools: Readonly<Record<string, Tool>> = {
  pi: {
    options: () =>
      pi<ShellTask>({
        program: program("pi"),
        args: ["--system-prompt", systemPrompt, "--tools", "bash", "--no-context-files"],
      }),
    call: { name: "bash", argument: "command" },
  },
  "mini-swe-agent": {
    options: miniSweAgent,
    call: { name: "bash", argument: "command" },
    finish: "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
    // With 1e-3 its calls, all of which are of one tool, are unlearned in four steps.
    learningRate: 4e-4,
  },
  codex: {
    options: () => {
      const file = join(mkdtempSync(join(tmpdir(), "codex-")), "instructions.md");
      writeFileSync(file, systemPrompt);
      return codex<ShellTask>({
        program: program("codex"),
        args: ["-c", `model_instructions_file=${JSON.stringify(file)}`],
      });
    },
    call: { name: "exec_command", argument: "cmd" },
  },
  "claude-code": {
    options: () =>
      claudeCode<ShellTask>({
        program: program("claude"),
        args: ["--system-prompt", systemPrompt, "--tools", "Bash"],
      }),
    call: { name: "Bash", argument: "command" },
  },
  opencode: {
    options: () => opencode<ShellTask>({ program: program("opencode") }),
    call: { name: "bash", argument: "command" },
  },
};
