/** Options that the adapters for command-line agents have in common. */
import type { Task } from "../../../core/task.ts";
import type { CommandAgentOptions } from "../command/command-options.ts";
import { toolSideCalls } from "./side-calls.ts";

/**
 * Options of `claudeCode`, `codex`, `opencode` and `pi`; those of `commandAgent` come with them, apart from
 * what the adapter itself sets.
 *
 * @example
 * const options: ToolOptions = { program: "node_modules/.bin/codex", timeoutMs: 300_000 };
 */
export interface ToolOptions<Metadata = Record<string, unknown>> extends Omit<
  CommandAgentOptions<Metadata>,
  "command" | "stdin" | "env" | "homeFiles" | "output"
> {
  /** What the agent is told. @default `task.instruction` */
  readonly prompt?: (task: Task<Metadata>) => string;
  /** The program, by its name in PATH or its path. @default the tool's own name */
  readonly program?: string;
  /** Further arguments of the program. @default [] */
  readonly args?: readonly string[];
  /** Further environment variables. @default {} */
  readonly env?: Readonly<Record<string, string>>;
}

/** What is left for `commandAgent`, and the prompt as standard input. */
export function commandPart<Metadata>(
  options: ToolOptions<Metadata>,
): Omit<CommandAgentOptions<Metadata>, "command"> {
  const { prompt = ({ instruction }: Task<Metadata>) => instruction, ...rest } = options;
  const { program: _program, args: _args, env: _env, ...common } = rest;
  const sideCalls = [...(common.sideCalls ?? []), ...toolSideCalls];
  return { ...common, sideCalls, stdin: ({ task }) => prompt(task) };
}
