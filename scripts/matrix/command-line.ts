/** Command-line agents as rows of the matrix: with their own prompts, as their adapters connect them. */
import { claudeCode } from "../../src/rollouts/agents/tools/claude-code.ts";
import { codex } from "../../src/rollouts/agents/tools/codex.ts";
import type { CommandAgentOptions } from "../../src/rollouts/agents/command/command-options.ts";
import { opencode } from "../../src/rollouts/agents/tools/opencode.ts";
import { pi } from "../../src/rollouts/agents/tools/pi.ts";
import type { ToolOptions } from "../../src/rollouts/agents/tools/tool-options.ts";
import type { Protocol } from "./rows.ts";

export interface CommandLineAgent {
  readonly name: string;
  /** Its package on npm, and its program there. */
  readonly package: string;
  readonly program: string;
  readonly protocol: Protocol;
  /** Run by Node, instead of a native program. */
  readonly isNode: boolean;
  readonly options: (options: ToolOptions) => CommandAgentOptions;
  /** Calls of its shell in a rollout, where 64 take too long. @default 64 */
  readonly toolCalls?: number;
  /** Why there are fewer calls. */
  readonly note?: string;
  /** The call of its shell with a command. */
  readonly shell: (command: string) => { readonly name: string; readonly arguments: object };
}

export const commandLineAgents: readonly CommandLineAgent[] = [
  {
    name: "pi",
    package: "@mariozechner/pi-coding-agent",
    program: "pi",
    protocol: "Chat Completions",
    isNode: true,
    options: pi,
    shell: (command) => ({ name: "bash", arguments: { command } }),
  },
  {
    name: "codex",
    package: "@openai/codex",
    program: "codex",
    protocol: "Responses",
    isNode: false,
    options: codex,
    shell: (cmd) => ({ name: "exec_command", arguments: { cmd } }),
  },
  {
    name: "opencode",
    package: "opencode-ai",
    program: "opencode",
    protocol: "Chat Completions",
    isNode: false,
    options: opencode,
    toolCalls: 15,
    note: "fewer calls: a start takes 8 s of a processor, and calls much of one",
    shell: (command) => ({ name: "bash", arguments: { command, description: "Reads a price" } }),
  },
  {
    name: "claude-code",
    package: "@anthropic-ai/claude-code",
    program: "claude",
    protocol: "Messages",
    isNode: false,
    options: claudeCode,
    shell: (command) => ({ name: "Bash", arguments: { command, description: "Reads a price" } }),
  },
];
