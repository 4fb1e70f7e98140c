/** Options of an agent that is a command. */
import type { AgentConfig, AgentFlowObject } from "../../../core/agent.ts";
import { ConfigError } from "../../../core/errors.ts";
import type { Task } from "../../../core/task.ts";
import type { Files, RolloutFolders } from "../process/rollout-folder.ts";

/** What a command's options may depend on: the rollout and its folders. */
export interface CommandRollout<Metadata = Record<string, unknown>> {
  readonly task: Task<Metadata>;
  readonly config: AgentConfig;
  readonly folders: RolloutFolders;
}

/** A value, or a function of the rollout. */
export type PerRollout<Value, Metadata = Record<string, unknown>> =
  | Value
  | ((rollout: CommandRollout<Metadata>) => Value);

/**
 * Options of `commandAgent`.
 *
 * @example
 * const options: CommandAgentOptions<{ question: string }> = {
 *   command: "python agent.py",
 *   stdin: ({ task }) => task.metadata.question,
 *   timeoutMs: 120_000,
 *   memoryMb: 1024,
 * };
 */
export interface CommandAgentOptions<Metadata = Record<string, unknown>> extends Pick<
  AgentFlowObject<Metadata>,
  "name" | "sideCalls"
> {
  /**
   * The command: words, or a text that is split at white space, and given to `sh -c` where it uses more of
   * a shell than quotes. Words that name a file in `folder` become whole paths.
   */
  readonly command: PerRollout<string | readonly string[], Metadata>;
  /** Folder that files of the command are relative to. @default the current one */
  readonly folder?: string;
  /** Where the command runs: a new empty folder for each rollout, or `folder`. @default "own" */
  readonly cwd?: "own" | "folder";
  /** Further environment variables; those of the model are set already. @default {} */
  readonly env?: PerRollout<Readonly<Record<string, string>>, Metadata>;
  /** Names of variables of this process that are passed on. Keys are not, unless named. @default [] */
  readonly passEnv?: readonly string[];
  /** Files to create in the working folder, by relative path; needs `cwd: "own"`. @default {} */
  readonly files?: PerRollout<Files, Metadata>;
  /** Files to create in the home, such as a tool's configuration. @default {} */
  readonly homeFiles?: PerRollout<Files, Metadata>;
  /** What the command reads from its input. @default the rollout as JSON, see docs/command-agents.md */
  readonly stdin?: PerRollout<string, Metadata>;
  /**
   * What the answer is: the text that the command wrote, without white space at its end, or that text as
   * JSON. A file that it wrote to the path in `AGENT_TRAINER_OUTPUT` comes before its output. @default "text"
   */
  readonly output?: "text" | "json";
  /** Files of the working folder that evaluators find in `episode.metadata.files`. @default [] */
  readonly collect?: readonly string[];
  /** Limit in milliseconds, at least 1. @default the rollout's deadline, `workflow.timeout_s` */
  readonly timeoutMs?: number;
  /** Resident memory of the command and all that it starts, in MiB, at least 1; on Linux. @default none */
  readonly memoryMb?: number;
  /** What it may write to its outputs, in bytes, at least 1. @default 16 MiB */
  readonly maxOutputBytes?: number;
  /** Milliseconds between SIGTERM and SIGKILL at a limit, at least 0. @default 2000 */
  readonly graceMs?: number;
  /** Whether the rollouts' folders stay, to look into; `episode.metadata.folder` names them. @default false */
  readonly keepFolders?: boolean;
}

const bounds = { timeoutMs: 1, memoryMb: 1, maxOutputBytes: 1, graceMs: 0 } as const;

/** @throws ConfigError for an option out of bounds. */
export function checkCommandOptions<Metadata>(options: CommandAgentOptions<Metadata>): void {
  for (const [option, min] of Object.entries(bounds)) {
    const value = options[option as keyof typeof bounds];
    if (value === undefined || (Number.isSafeInteger(value) && value >= min)) continue;
    throw new ConfigError({
      message: `${option} of a command must be a whole number of at least ${min}, but it is ${value}.`,
      fields: { option, value },
    });
  }
  if (options.files !== undefined && options.cwd === "folder") {
    throw new ConfigError({
      message: 'files of a command need a separate working folder, but cwd is "folder".',
      hint: 'Remove files, or set cwd to "own".',
    });
  }
}
