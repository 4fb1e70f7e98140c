/**
 * An agent whose tools ask a real SQL database: prices are rows, so the model has to look them up, and the
 * evaluator asks the database for the right answer. The built-in model is too small to write SQL, so its tools
 * are prepared statements. Arguments are options, such as trainer.total_batches=5.
 */
import { AgentTrainer, type AgentConfig, loadConfig, type Task } from "agent-trainer";
import Database from "libsql";
import OpenAI from "openai";
import { systemPrompt, tools } from "../shop/agent.ts";
import { type ShopTask, items, makeTasks } from "../shop/tasks.ts";

const database = new Database(":memory:");
database.exec("CREATE TABLE products (name TEXT PRIMARY KEY, price INTEGER NOT NULL)");
const insert = database.prepare("INSERT INTO products VALUES (?, ?)");
for (const [i, item] of items.entries()) insert.run(item, 11 + ((i * 37) % 89));

interface Row {
  readonly value: number;
}
const statements = {
  get_price: database.prepare("SELECT price AS value FROM products WHERE name = ?"),
  multiply: database.prepare("SELECT CAST(? AS INTEGER) * CAST(? AS INTEGER) AS value"),
  total: database.prepare("SELECT ? * price AS value FROM products WHERE name = ?"),
};

/** A model may send anything: what cannot be run is an error that it reads. */
function runTool(name: string, text: string): string {
  try {
    const input = JSON.parse(text) as { item?: string; a?: number; b?: number };
    const row =
      name === "multiply"
        ? (statements.multiply.get(input.a, input.b) as Row | undefined)
        : (statements.get_price.get(input.item) as Row | undefined);
    return row === undefined ? "error: no such item" : String(row.value);
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

async function agent(task: Task<ShopTask>, config: AgentConfig): Promise<string> {
  const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: systemPrompt },
    { role: "user", content: task.instruction },
  ];
  for (let turn = 0; turn < 4; turn++) {
    const { choices } = await client.chat.completions.create(
      { model: config.model, messages, tools },
      { signal: config.signal },
    );
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    for (const call of message.tool_calls) {
      const content =
        call.type === "function"
          ? runTool(call.function.name, call.function.arguments)
          : "error: unknown kind of tool";
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return "";
}

const { config } = loadConfig({
  overrides: [
    "model.name=builtin:shop-tiny",
    "data.train_batch_size=8",
    "rollout.n=8",
    "rollout.train.max_tokens=64",
    "training.learning_rate=7e-4",
    "trainer.total_batches=16",
    ...process.argv.slice(2),
  ],
});
const trainer = new AgentTrainer({
  agentFlow: agent,
  evaluator: ({ metadata: { item, count } }, { output }) => {
    const { value } = statements.total.get(count, item) as Row;
    return Number(output) === value;
  },
  config,
  trainDataset: makeTasks("train", 512),
});
for await (const event of trainer.events()) {
  if (event.type === "step-end")
    console.log(`step ${event.step}  reward ${event.metrics["reward/mean"]?.toFixed(3)}`);
}
