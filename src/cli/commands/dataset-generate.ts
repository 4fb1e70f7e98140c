/** `agent-trainer dataset generate`: tasks for the tools of an MCP server, with checks that their solution passes. */
import type { Episode } from "../../core/trajectory.ts";
import { refuseExisting } from "../../engine/checkpoint/refuse-existing.ts";
import { type GenerateReport, generateTasks } from "../../environments/generate/generate-tasks.ts";
import { McpSource } from "../../environments/mcp/mcp-source.ts";
import { toolChecks } from "../../evaluators/tool-checks.ts";
import { writeFileAtomic } from "../../util/files/atomic-write.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { chatEndpoint, chatHelp, endpointHelp } from "../load/evaluated-model.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";
import { createLiveLine } from "../terminal/live-line.ts";
import { safeText } from "../terminal/terminal.ts";

const help = `
Tasks come from templates over the tools' schemas, or with --model from a model. The solution of each is carried out
twice in separate episodes: a task is kept where its outcome is the same, its checks pass, and doing nothing does not
pass them. Tools are really called, so use a server that may be changed; those that the server calls
destructive are called only if --tools names them.

Each row has the instruction, the answer, the calls of the solution, and in checks what the tools say after it. Train
on them with env=mcp:SERVER and an evaluator file with: export const evaluator = toolChecks();

Examples:
  $ agent-trainer dataset generate --mcp "npx -y my-server" --output tasks.jsonl
  $ agent-trainer dataset generate --mcp http://127.0.0.1:3000/mcp --output tasks.jsonl --count 200 --max-calls 3
  $ agent-trainer dataset generate --mcp "npx -y my-server" --output tasks.jsonl --model https://api.openai.com/v1 --model-name gpt-5-mini --key-env OPENAI_API_KEY
`;

/** Of the proposals for each task that is wanted. */
const triesPerTask = 20;

const score = (
  task: Parameters<ReturnType<typeof toolChecks>>[0],
  output: string,
  signals: Readonly<Record<string, number>>,
): number => {
  const named = Object.entries(signals).map(([name, value]) => [`env_${name}`, value]);
  const trajectories = [{ signals: Object.fromEntries(named), steps: [] }];
  return toolChecks()(task, { output, trajectories } as unknown as Episode).reward ?? 0;
};

function summaryOf(
  output: string,
  { tasks, tried, dropped, tokens, tools }: GenerateReport,
): string {
  const changing = tasks.filter(({ checks }) => checks !== undefined).length;
  const lines = [
    `${output}: ${tasks.length} tasks from ${tried} proposals for ${tools.length} tools; ${changing} of them change something, and check it`,
    ...Object.entries(dropped)
      .toSorted(([, a], [, b]) => b - a)
      .map(([reason, count]) => `  ${count} dropped: ${reason}`),
    ...(tokens.prompt + tokens.completion === 0
      ? []
      : [`  ${tokens.prompt} prompt and ${tokens.completion} completion tokens of the model`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Resolves with 1 where no task could be made. @throws ConfigError */
export const command: CliCommand = defineCommand({
  flags: (flags) =>
    flags
      .requiredOption("--mcp <server>", "command or URL of the MCP server")
      .requiredOption("--output <file>", "JSONL file to create")
      .option("--count <n>", "tasks to make", wholeNumber(1), 100)
      .option("--max-calls <n>", "calls of a solution at most", wholeNumber(1), 2)
      .option(
        "--max-tries <n>",
        `proposals to try (default: ${triesPerTask} for each task)`,
        wholeNumber(1),
      )
      .option(
        "--tools <names>",
        "tools that may be called, separated by commas (default: all that are not destructive)",
      )
      .option("--seed <n>", "random seed of the proposals", wholeNumber(0), 0)
      .option("--timeout-s <n>", "limit of one call in seconds", wholeNumber(1), 30)
      .option("--model <url>", `${chatHelp.model}, that writes the tasks (default: templates)`)
      .option("--model-name <name>", chatHelp.modelName)
      .option("--key-env <variable>", endpointHelp.keyEnv),
  help,
  async run(
    _none,
    { mcp, output, count, maxCalls, maxTries, tools, seed, timeoutS, ...flags },
    io,
  ) {
    const { json = false, quiet = false } = flags;
    refuseExisting(output);
    using interrupt = watchInterrupt(io, "Stopping: nothing is written.");
    const { signal } = interrupt;
    const line = createLiveLine({ stream: io.stderr, isQuiet: quiet || json });
    const endpoint = chatEndpoint(flags);
    const report = await generateTasks({
      source: new McpSource({ server: mcp, callTimeoutMs: timeoutS * 1000 }),
      only: tools?.split(",").map((name) => name.trim()) ?? null,
      ...{ count, maxCalls, seed, endpoint, score, signal },
      maxTries: maxTries ?? triesPerTask * count,
      onProgress: (kept, tried) => line.show([`${kept}/${count} tasks from ${tried} proposals`]),
    }).finally(() => line.clear());
    const rows = report.tasks.map((task) => `${JSON.stringify(task)}\n`).join("");
    if (report.tasks.length > 0) await writeFileAtomic(output, rows);
    const { tasks, ...counts } = report;
    const text = summaryOf(output, report);
    writeResult(io, json, { output, tasks: tasks.length, ...counts }, safeText(text));
    return tasks.length === 0 ? exitCodes.failed : exitCodes.done;
  },
});
