/**
 * An agent that writes SQL for a real database. The built-in model has never seen SQL: demonstrations teach it
 * the form, three of four of them wrong, and reinforcement learning finds out which way is right. Arguments
 * are options of the second part, such as trainer.total_batches=5.
 */
import { AgentTrainer, type AgentConfig, loadConfig, type Task } from "agent-trainer";
import { fineTune } from "agent-trainer/finetune";
import Database from "libsql";
import OpenAI from "openai";
import { type ShopTask, makeTasks } from "../shop/tasks.ts";

const database = new Database(":memory:");
database.exec("CREATE TABLE products (name TEXT PRIMARY KEY, price INTEGER NOT NULL)");
const insert = database.prepare("INSERT OR IGNORE INTO products VALUES (?, ?)");
for (const { metadata } of makeTasks("prices", 200)) insert.run(metadata.item, metadata.price);
// From here on the model writes what is run.
database.exec("PRAGMA query_only = ON");

const system = { role: "system" as const, content: "You are a shop assistant." };
const parameters = { type: "object", properties: { query: { type: "string" } } };
const tool = { type: "function" as const, function: { name: "sql", parameters } };

/** The first value of the first row. */
function runQuery(query: string): string {
  try {
    const row = database.prepare(query).raw().get() as readonly unknown[] | undefined;
    return String(row?.[0] ?? "no rows");
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

async function agent(task: Task<ShopTask>, config: AgentConfig): Promise<string> {
  const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    system,
    { role: "user", content: task.instruction },
  ];
  for (let turn = 0; turn < 3; turn++) {
    const { choices } = await client.chat.completions.create(
      { model: config.model, messages, tools: [tool] },
      { signal: config.signal },
    );
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    for (const call of message.tool_calls) {
      const text = call.type === "function" ? call.function.arguments : "";
      const query = /"query": *"((?:[^"\\]|\\.)*)"/u.exec(text)?.[1] ?? "";
      messages.push({ role: "tool", tool_call_id: call.id, content: runQuery(query) });
    }
  }
  return "";
}

const priceOf = (item: string): number =>
  (database.prepare("SELECT price FROM products WHERE name = ?").get(item) as { price: number })
    .price;

/** Right, without the count, or without a look at the database. */
function demonstrate(task: Task<ShopTask>, way: number): object {
  const { item, count } = task.metadata;
  const said = (content: number) => ({ role: "assistant", content: String(content) });
  const opening = [system, { role: "user", content: task.instruction }];
  if (way === 0) return { messages: [...opening, said(count * 50)], tools: [tool] };
  const value = way === 1 ? `${count} * price` : "price";
  const query = `SELECT ${value} FROM products WHERE name = '${item}'`;
  const call = {
    id: "1",
    type: "function",
    function: { name: "sql", arguments: JSON.stringify({ query }) },
  };
  const result = Number(runQuery(query));
  return {
    messages: [
      ...opening,
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "1", content: String(result) },
      said(result),
    ],
    tools: [tool],
  };
}

const warm = await fineTune({
  config: {
    model: { name: "builtin:shop-tiny" },
    data: { trainBatchSize: 16 },
    training: { learningRate: 4e-3, lrSchedule: "linear" },
    trainer: { totalBatches: 150 },
  },
  train: makeTasks("demonstrations", 320).map((task, i) => demonstrate(task, i % 4)),
  onEvent: ({ type, step, ...event }) => {
    if (type === "step-end" && "metrics" in event && step % 20 === 0)
      console.log(`demonstrations ${step}  loss ${event.metrics["train/loss"]?.toFixed(3)}`);
  },
});

const { config } = loadConfig({
  overrides: [
    `model.name=${JSON.stringify(warm.runDir)}`,
    "data.train_batch_size=8",
    "rollout.n=8",
    "rollout.train.max_tokens=96",
    "training.learning_rate=5e-4",
    "trainer.total_batches=15",
    ...process.argv.slice(2),
  ],
});
const trainer = new AgentTrainer({
  agentFlow: agent,
  evaluator: (task, { output }) =>
    Number(output) === task.metadata.count * priceOf(task.metadata.item),
  config,
  trainDataset: makeTasks("train", 256),
});
for await (const event of trainer.events()) {
  if (event.type === "step-end")
    console.log(`step ${event.step}  reward ${event.metrics["reward/mean"]?.toFixed(3)}`);
}
