/** `agent-trainer env show` and `agent-trainer env setup`. */
import type { EnvironmentEpisode, EnvironmentSource } from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { plainText } from "../../environments/episode/plain-text.ts";
import { McpSource } from "../../environments/mcp/mcp-source.ts";
import { openEnvironment } from "../../launch/run-environment.ts";
import { pythonIn } from "../../util/process/python-in.ts";
import { defined } from "../../util/defined.ts";
import { formatSteps, runSteps, type SetupStep } from "../load/setup-step.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";

export interface EnvShowFlags {
  readonly split: string;
  readonly limit: number;
  readonly python?: string;
  readonly json?: boolean;
}

export interface EnvSetupFlags {
  readonly python: string;
  readonly into: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** The version that the bridge is tested with. */
const verifiers = "verifiers==0.4.0";

function setupSteps(packages: readonly string[], { python, into }: EnvSetupFlags): SetupStep[] {
  const own = pythonIn(into);
  const install = ["-m", "uv", "pip", "install", "--python", own];
  return [
    { title: `environment in ${into}`, command: python, args: ["-m", "venv", into] },
    { title: "uv", command: own, args: ["-m", "pip", "install", "--quiet", "uv"] },
    {
      title: [verifiers, ...packages].join(", "),
      command: own,
      args: [...install, verifiers, ...packages],
    },
  ];
}

/** Creates the environment. @throws AgentTrainerError for a step that fails. */
export async function envSetupCommand(
  packages: readonly string[],
  flags: EnvSetupFlags,
  io: CliIo,
): Promise<number> {
  const steps = setupSteps(packages, flags);
  if (flags.dryRun === true) {
    io.stdout.write(formatSteps(steps));
    return exitCodes.done;
  }
  await runSteps(steps, flags.quiet === true, io);
  const python = pythonIn(flags.into);
  const text = `The environment is in ${flags.into}.\nTry a taskset: agent-trainer env show verifiers:NAME\n`;
  io.stdout.write(
    flags.json === true ? `${JSON.stringify({ folder: flags.into, python, packages })}\n` : text,
  );
  return exitCodes.done;
}

async function firstTasks(
  source: EnvironmentSource,
  { split, limit }: EnvShowFlags,
  signal: AbortSignal,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks(split, { stop: limit }, signal)) {
    tasks.push(task);
    if (tasks.length >= limit) break;
  }
  return tasks;
}

/** Lists tasks, and opens the first one. */
export async function envShowCommand(
  name: string,
  flags: EnvShowFlags,
  io: CliIo,
): Promise<number> {
  const source = await openEnvironment(name, process.cwd(), defined({ python: flags.python }));
  using interrupt = watchInterrupt(() => void io.stderr.write("Stopping.\n"));
  const { signal } = interrupt;
  try {
    // Tools of an MCP server are the same for every task, and tasks come from elsewhere.
    const isMcp = source instanceof McpSource;
    const tasks = isMcp ? [] : await firstTasks(source, flags, signal);
    const [first] = isMcp ? [{ id: "none", instruction: "", metadata: {} }] : tasks;
    const episode = first === undefined ? null : await source.open(first, { signal });
    await episode?.close();
    const prompt = episode?.prompt ?? [];
    const tools = episode?.tools ?? [];
    if (flags.json === true) {
      const shown = tasks.map(({ id, instruction }) => ({ id, instruction }));
      io.stdout.write(
        `${JSON.stringify({ env: source.name, split: flags.split, tasks: shown, prompt, tools })}\n`,
      );
    } else io.stdout.write(format(source, isMcp ? null : flags.split, tasks, episode));
    return exitCodes.done;
  } finally {
    await source.close?.();
  }
}

function format(
  { name, bringsAgent, givesRewards }: EnvironmentSource,
  split: string | null,
  tasks: readonly Task[],
  episode: EnvironmentEpisode | null,
): string {
  const line = (text: string): string => plainText(text, 200).replaceAll(/\s+/gu, " ").trim();
  const prompt = (episode?.prompt ?? []).map(({ role, content }) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    return `  ${role}: ${plainText(text, 1000).replaceAll("\n", "\n    ")}`;
  });
  const tools = (episode?.tools ?? []).map(
    (tool) => `  ${line(tool.name)}  ${line(tool.description ?? "")}`,
  );
  const agent =
    bringsAgent === true
      ? "its own agent plays it"
      : "any agent, or the one that agent-trainer has";
  return [
    plainText(name, 500),
    ...(split === null ? ["tasks: none; set dataset.train"] : [`first tasks of ${split}:`]),
    ...tasks.map(({ id, instruction }) => `  ${line(id)}  ${line(instruction)}`),
    ...(split !== null && tasks.length === 0 ? ["  none"] : []),
    ...(tasks.length > 0 ? ["prompt of the first one:", ...prompt] : []),
    `tools: ${tools.length === 0 ? "none" : ""}`.trimEnd(),
    ...tools,
    `agent: ${agent}`,
    `rewards: ${givesRewards === false ? "none; set evaluator" : "its own"}`,
    "",
  ].join("\n");
}
