/** `agent-trainer env show`: the first tasks of an environment, and the prompt and tools of one. */
import type { EnvironmentEpisode, EnvironmentSource } from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { plainText } from "../../environments/episode/plain-text.ts";
import { McpSource } from "../../environments/mcp/mcp-source.ts";
import { openEnvironment } from "../../launch/run-environment.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
Examples:
  $ agent-trainer env show openenv:http://127.0.0.1:8000
  $ agent-trainer env show verifiers:gsm8k-v1 --limit 1 --json
  $ agent-trainer env show "mcp:npx -y @modelcontextprotocol/server-everything"
`;

async function firstTasks(
  source: EnvironmentSource,
  { split, limit }: { readonly split: string; readonly limit: number },
  signal: AbortSignal,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks(split, { stop: limit }, signal)) {
    tasks.push(task);
    if (tasks.length >= limit) break;
  }
  return tasks;
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

/** Lists tasks, and opens the first one. */
export const command: CliCommand = defineCommand({
  flags: (show) =>
    show
      .argument(
        "<env>",
        "the environment, as in the option env: openenv:URL, harbor:FOLDER, verifiers:NAME, reasoning-gym:FAMILY, replay:FOLDER, mcp:COMMAND, or path#export",
      )
      .option("--split <name>", "split whose tasks are listed", "train")
      .option("--limit <n>", "number of tasks to list", wholeNumber(1), 5)
      .option(
        "--python <path>",
        "Python interpreter for verifiers: and reasoning-gym: (default: that of env setup)",
      ),
  help,
  async run([name], { split, limit, python, json = false }, io) {
    const source = await openEnvironment(name, process.cwd(), defined({ python }));
    using interrupt = watchInterrupt(io, "Stopping.");
    const { signal } = interrupt;
    try {
      // Tools of an MCP server are the same for every task, and tasks come from elsewhere.
      const isMcp = source instanceof McpSource;
      const tasks = isMcp ? [] : await firstTasks(source, { split, limit }, signal);
      const [first] = isMcp ? [{ id: "none", instruction: "", metadata: {} }] : tasks;
      const episode = first === undefined ? null : await source.open(first, { signal });
      await episode?.close();
      const prompt = episode?.prompt ?? [];
      const tools = episode?.tools ?? [];
      const shown = tasks.map(({ id, instruction }) => ({ id, instruction }));
      const result = { env: source.name, split, tasks: shown, prompt, tools };
      writeResult(io, json, result, format(source, isMcp ? null : split, tasks, episode));
      return exitCodes.done;
    } finally {
      await source.close?.();
    }
  },
});
