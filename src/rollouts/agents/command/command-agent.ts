/** Agents that are commands: a process for each rollout, whose model calls reach the gateway. */
import { join } from "node:path";
import type { AgentConfig, AgentFlowObject } from "../../../core/agent.ts";
import { defineEpisode, type EpisodeReport } from "../../../core/report.ts";
import type { Task } from "../../../core/task.ts";
import { defined } from "../../../util/defined.ts";
import { type ProcessEnd, runLimited } from "../../../util/process/limited-process.ts";
import { agentFailed, cannotStart, tailOf } from "../process/agent-failed.ts";
import { commandWords } from "../process/command-words.ts";
import { inheritedVariables } from "../process/inherited-variables.ts";
import { modelVariables } from "../process/model-variables.ts";
import { type Files, makeFolders, readFiles, writeFiles } from "../process/rollout-folder.ts";
import { wireRollout } from "../process/wire-task.ts";
import {
  checkCommandOptions,
  type CommandAgentOptions,
  type CommandRollout,
  type PerRollout,
} from "./command-options.ts";

const defaultOutputBytes = 2 ** 24;
/** A variable that is longer cannot be passed to a process on Linux. */
const maxVariableBytes = 100_000;
const pollMs = 200;
const outputFile = "output";

/**
 * An agent that is a command of any language, run once for each rollout. It finds the model in
 * `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, their keys and model names, and the task on its standard input;
 * its answer is what it writes. It runs in a separate home and working folder, within its limits, and
 * everything that it started is killed at its end. Another exit status than 0 is a failure of the agent:
 * the rollout gets `rollout.failure_reward`, and its calls are kept. Exit status and the last lines of its
 * error output are in `episode.metadata.process`, or in `episode.error`.
 *
 * @throws ConfigError for an option out of bounds.
 *
 * @example
 * const trainer = new AgentTrainer({
 *   agentFlow: commandAgent({ command: "python agent.py" }),
 *   evaluator: (task, episode) => episode.output === task.metadata.answer,
 *   trainDataset: [{ question: "2 + 2", answer: "4" }],
 *   config: { model: { name: "builtin:shop-tiny" } },
 * });
 */
export function commandAgent<Metadata = Record<string, unknown>>(
  options: CommandAgentOptions<Metadata>,
): AgentFlowObject<Metadata> {
  checkCommandOptions(options);
  return {
    ...defined({ name: options.name, sideCalls: options.sideCalls }),
    run: (task, config) => runCommand(options, task, config),
  };
}

async function runCommand<Metadata>(
  options: CommandAgentOptions<Metadata>,
  task: Task<Metadata>,
  config: AgentConfig,
): Promise<EpisodeReport> {
  const { folder = process.cwd(), cwd = "own", keepFolders = false } = options;
  await using folders = await makeFolders(keepFolders);
  const rollout: CommandRollout<Metadata> = { task, config, folders };
  await writeFiles(folders.work, valueOf(options.files, rollout) ?? {});
  await writeFiles(folders.home, valueOf(options.homeFiles, rollout) ?? {});
  config.signal.throwIfAborted();
  const argv = commandWords(valueOf(options.command, rollout), folder);
  const wire = wireRollout(task, config);
  const env = {
    ...variablesOf(options, rollout, folder),
    ...taskVariable(wire),
    AGENT_TRAINER_SESSION: config.sessionUid,
    AGENT_TRAINER_OUTPUT: join(folders.root, outputFile),
    AGENT_TRAINER_PROJECT: folder,
    TMPDIR: folders.temp,
    ...valueOf(options.env, rollout),
  };
  const end = await runLimited(
    {
      argv,
      cwd: cwd === "own" ? folders.work : folder,
      env,
      stdin: valueOf(options.stdin, rollout) ?? wire,
      endsAll: true,
    },
    {
      ...defined({ timeoutMs: options.timeoutMs, memoryMb: options.memoryMb }),
      maxOutputBytes: options.maxOutputBytes ?? defaultOutputBytes,
      graceMs: options.graceMs ?? 2000,
      pollMs,
      signal: config.signal,
    },
  ).catch((error: unknown) => {
    throw cannotStart(argv[0]!, error instanceof Error ? error.message : String(error), error);
  });
  config.signal.throwIfAborted();
  requireSuccess(argv, end, options);
  const own = await readFiles(folders.root, [outputFile], limitOf(options));
  const collected = await readFiles(
    cwd === "own" ? folders.work : folder,
    options.collect ?? [],
    limitOf(options),
  );
  return defineEpisode({
    trajectories: [],
    output: answerOf(own[outputFile] ?? end.stdout, options.output ?? "text", end),
    metadata: {
      process: { exitCode: end.exitCode, stderr: tailOf(end.stderr) },
      ...filesField(collected),
      ...(keepFolders ? { folder: folders.root } : {}),
    },
  });
}

const limitOf = (options: Pick<CommandAgentOptions, "maxOutputBytes">): number =>
  options.maxOutputBytes ?? defaultOutputBytes;

const filesField = (files: Files): object => (Object.keys(files).length === 0 ? {} : { files });

function valueOf<Value, Metadata>(
  value: PerRollout<Value, Metadata>,
  rollout: CommandRollout<Metadata>,
): Value {
  return typeof value === "function"
    ? (value as (of: CommandRollout<Metadata>) => Value)(rollout)
    : value;
}

function variablesOf<Metadata>(
  { passEnv = [] }: CommandAgentOptions<Metadata>,
  { config, folders }: CommandRollout<Metadata>,
  folder: string,
): Readonly<Record<string, string>> {
  const { home } = folders;
  return {
    ...inheritedVariables(passEnv, folder),
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local", "share"),
    XDG_STATE_HOME: join(home, ".local", "state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    ...modelVariables(config),
  };
}

const taskVariable = (wire: string): Readonly<Record<string, string>> => {
  const { task } = JSON.parse(wire) as { readonly task: unknown };
  const text = JSON.stringify(task);
  return Buffer.byteLength(text) > maxVariableBytes ? {} : { AGENT_TRAINER_TASK: text };
};

/** The shell's status for a program that is not there. */
const isMissing = ({ exitCode, stderr }: ProcessEnd): boolean =>
  (exitCode === 127 || exitCode === 126) && /not found|No such file|denied/u.test(stderr);

function requireSuccess(
  argv: readonly string[],
  end: ProcessEnd,
  { timeoutMs, memoryMb, ...options }: CommandAgentOptions<never>,
): void {
  const { ended, exitCode, signal, stderr } = end;
  if (ended === "exit" && exitCode === 0) return;
  if (ended === "exit" && argv[0] === "sh" && isMissing(end)) throw cannotStart(argv[2]!, stderr);
  const what = {
    exit: signal === null ? `ended with exit status ${exitCode}` : `was ended by ${signal}`,
    timeout: `was stopped at its time limit of ${timeoutMs} ms`,
    memory: `was stopped at its memory limit of ${memoryMb} MiB`,
    output: `was stopped at its output limit of ${limitOf(options)} bytes`,
    abort: "was stopped",
  }[ended];
  throw agentFailed(`The agent's command ${what}.`, stderr, { ended, exitCode, signal });
}

function answerOf(text: string, output: "text" | "json", { stderr }: ProcessEnd): unknown {
  if (output === "text") return text.trimEnd();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const shown = JSON.stringify(text.slice(0, 200));
    throw agentFailed(`The agent's command wrote ${shown}, which is not JSON.`, stderr, {});
  }
}
