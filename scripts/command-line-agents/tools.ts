/** Command-line agents as a small model can use them: with a prompt of one line instead of their own. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  claudeCode,
  codex,
  type CommandAgentOptions,
  opencode,
  pi,
} from "../../src/agents/index.ts";
import { root } from "../../test/integration/root.ts";
import type { ShellTask } from "./shell-tasks.ts";

const program = (name: string): string =>
  join(root, ".cache/command-line-agents/node_modules/.bin", name);
const systemPrompt = "You work with files in a shell.";

export interface Tool {
  readonly options: () => CommandAgentOptions<ShellTask>;
  /** Its shell, and the argument that has the command. */
  readonly call: { readonly name: string; readonly argument: string };
}

export const tools: Readonly<Record<string, Tool>> = {
  pi: {
    options: () =>
      pi<ShellTask>({
        program: program("pi"),
        args: ["--system-prompt", systemPrompt, "--tools", "bash", "--no-context-files"],
      }),
    call: { name: "bash", argument: "command" },
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
