/**
 * Trains command-line agents as black boxes, on a task of files and shell commands:
 *
 *   npx tsx --conditions=agent-trainer-source scripts/command-line-agents/main.ts pi [MINUTES]
 *
 * A tool's own prompt is recorded once with a scripted model; a small model is taught from nothing to speak in
 * it, and to do the task right one time in four; from there on it learns by reinforcement, through the tool.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { commandAgent } from "../../src/rollouts/agents/command/command-agent.ts";
import { AgentTrainer } from "../../src/index.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";
import { runThroughGateway } from "../../test/rollout/gateway-run.ts";
import { root } from "../../test/integration/root.ts";
import { configOf, special, teach } from "../model-tiny/teach.ts";
import { learnMerges, tokenizerJson } from "../model-tiny/train-bpe.ts";
import { demonstrate, type Recording, type ShellTask, shellTask, textOf } from "./shell-tasks.ts";
import { tools } from "./tools.ts";

const [name = "pi", minutes = "10"] = process.argv.slice(2);
const tool = tools[name];
if (tool === undefined) throw new Error(`${name} is none of ${Object.keys(tools).join(", ")}.`);
const vocabSize = 1024;
const contextLength = 2048;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const flow = (timeoutMs: number) =>
  commandAgent<ShellTask>({
    ...tool.options(),
    files: ({ task: { metadata } }) => ({
      "given.txt": `${metadata.lines.join("\n")}\n`,
    }),
    collect: ["out.txt"],
    timeoutMs,
  });

/** What the tool sends for some tasks, with a scripted model that calls its shell once. */
async function record(): Promise<readonly Recording[]> {
  const tasks = Array.from({ length: 4 }, (_, i) => shellTask(i));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const { call, finish } = tool!;
  const run = (command: string): string =>
    `<tool_call>\n${JSON.stringify({ name: call.name, arguments: { [call.argument]: command } })}\n</tool_call>`;
  const done = finish === undefined ? "Done." : run(finish);
  const agent = flow(120_000);
  const { episodes } = await runThroughGateway({
    tasks: tasks.map(({ id }) => id),
    flow: (task, config) => agent.run(byId.get(task.id)!, config),
    script: ({ index }) => (seen(index) ? done : run("cat given.txt > out.txt")),
    limits: { concurrency: 1, timeoutMs: 150_000 },
    callTimeoutMs: 60_000,
    contextLength: 1_000_000,
    maxTokens: 4096,
  });
  return episodes.map(({ task, trajectories, error }) => {
    const steps = trajectories.flatMap((one) => one.steps);
    const [first, second] = steps;
    if (first === undefined || second === undefined)
      throw new Error(`${name} made ${steps.length} calls: ${error?.message ?? "no error"}`);
    const { messages } = second.trace;
    offered ??= first.trace.tools;
    return { task: byId.get(task.id)!, messages: first.trace.messages, result: messages.at(-1)! };
  });
}
let offered: Parameters<typeof teach>[0]["tools"] | undefined;
/** Every second call of a tool is the one after its command. */
const seen = (index: number): boolean => index % 2 === 1;

const startedAt = performance.now();
const since = (): string => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
const recordings = await record();
const bytes = recordings[0]!.messages.reduce((sum, one) => sum + Buffer.byteLength(textOf(one)), 0);
say(`${name}: prompts of ${bytes} bytes, ${offered!.length} tools, recorded after ${since()}`);

const show = (random: () => number) =>
  demonstrate(recordings[Math.floor(random() * recordings.length)]!, tool, random);
const random = createRandom(deriveSeed(1, "tokenizer"));
const texts = Array.from({ length: 100 }, () => show(random)).flatMap((messages) =>
  messages.flatMap((message) => [
    `${message.role}\n${textOf(message)}`,
    `\n<tool_response>\n${textOf(message)}\n</tool_response>`,
    ...(message.toolCalls ?? []).map(
      (call) =>
        `\n{"name": "${call.name}", "arguments": ${call.arguments.replaceAll(/([:,])/g, "$1 ")}}\n`,
    ),
  ]),
);
texts.push(`Tools: ${offered!.map((one) => one.name).join(", ")}`);
const merges = learnMerges(texts, vocabSize - 256 - special.length);
say(`vocabulary after ${since()}`);
const folder = mkdtempSync(join(tmpdir(), `${name}-`));
const model = join(folder, "model");
await teach({
  config: configOf(256 + merges.length + special.length, contextLength),
  tokenizer: tokenizerJson(merges, special),
  tools: offered!,
  demonstrate: show,
  seed: 1,
  steps: 200,
  batchSize: 16,
  out: model,
});
say(`taught after ${since()}`);

const curve: { step: number; reward: number; seconds: number }[] = [];
if (minutes === "0") process.exit(0);
const trainingAt = performance.now();
const deadline = new AbortController();
const trainer = new AgentTrainer({
  agentFlow: flow(120_000),
  evaluator: (task, episode) =>
    (episode.metadata["files"] as Record<string, string> | undefined)?.["out.txt"] ===
    task.metadata.wanted,
  trainDataset: Array.from({ length: 64 }, (_, i) => shellTask(1000 + i)),
  signal: deadline.signal,
  config: {
    model: { name: model, loraRank: 0 },
    data: { trainBatchSize: 2 },
    rollout: { n: 8, train: { maxTokens: 64 } },
    training: { learningRate: tool.learningRate ?? 1e-3 },
    trainer: { totalBatches: 40, testFreq: 0, valBeforeTrain: false, outputDir: folder },
    workflow: { nParallelTasks: 4, timeoutS: 150 },
  },
  onEvent: (event) => {
    if (event.type !== "step-end") return;
    const seconds = (performance.now() - trainingAt) / 1000;
    const reward = event.metrics["reward/mean"] ?? 0;
    curve.push({ step: event.step, reward, seconds });
    say(`step ${event.step}  reward ${reward.toFixed(3)}  ${seconds.toFixed(0)} s`);
    if (seconds > Number(minutes) * 60) deadline.abort();
  },
});
await trainer.train().catch((error: unknown) => {
  if (!deadline.signal.aborted) throw error;
});

const file = join(root, "docs", "command-line-agents.json");
const before = (() => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
})();
const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
writeFileSync(
  file,
  `${JSON.stringify({ ...before, [name]: { machine, promptBytes: bytes, rolloutsPerStep: 16, curve } }, null, 2)}\n`,
);
