/**
 * The whole way: an agent that OpenTelemetry watches sends traces, thumbs and corrections; they are curated; and
 * sft, dpo and kto learn from the files with the embedded model.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import type { CurateReport } from "../../src/production/curate/report.ts";
import { shopConversations } from "../finetune/trl-examples.ts";
import { startReceiver } from "./collected.ts";

const folder = mkdtempSync(join(tmpdir(), "production-"));
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => void (receiver = await startReceiver()));
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  expect(code, `${args.join(" ")}\n${err}`).toBe(0);
  return { out, err };
}

interface Conversation {
  readonly messages: readonly { readonly role: string; readonly content?: string | null }[];
  readonly tools?: readonly object[];
}

const users = 20;
const conversations = shopConversations("production", 60) as unknown as readonly Conversation[];
const distinct = new Set(conversations.map(({ messages }) => messages[1]!.content)).size;
const output = join(folder, "curated");
const rowsOf = (name: string): Record<string, unknown>[] =>
  readFileSync(join(output, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

it("collects what an agent did, and what was thought of it", async () => {
  const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer("shop");
  const feedback: object[] = [];
  for (const [i, { messages, tools }] of conversations.entries()) {
    const about = {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "shop",
      "gen_ai.conversation.id": `c${i}`,
      "user.id": `user${i % users}`,
      ...(tools === undefined ? {} : { "gen_ai.tool.definitions": JSON.stringify(tools) }),
    };
    // A span for each call of the model, with all that came before it.
    for (const [k, message] of messages.entries()) {
      if (message.role !== "assistant") continue;
      const span = tracer.startSpan("chat shop", { startTime: 1e12 + 1e6 * i + 1000 * k });
      span.setAttributes({
        ...about,
        "gen_ai.input.messages": JSON.stringify(messages.slice(0, k)),
        "gen_ai.output.messages": JSON.stringify([message]),
      });
      span.end(1e12 + 1e6 * i + 1000 * k + 500);
    }
    const said = i % 3 === 0 ? { thumb: "up" } : i % 3 === 1 ? { thumb: "down" } : {};
    const correction = i % 6 === 1 ? { correction: `Better answer ${i}` } : {};
    feedback.push({ conversationId: `c${i}`, comment: "seen", ...said, ...correction });
  }
  await provider.forceFlush();
  await provider.shutdown();
  const response = await fetch(`${receiver.url}/feedback`, {
    method: "POST",
    body: JSON.stringify(feedback),
  });
  expect(await response.json()).toEqual({ accepted: 60 });
  expect(receiver.counts).toMatchObject({ rejected: 0, withoutText: 0, feedback: 60 });
});

async function curated(into: string, valFraction: string): Promise<CurateReport> {
  const args = ["--output", into, "--val-fraction", valFraction, "--json"];
  return JSON.parse((await run("curate", receiver.folder, ...args)).out) as CurateReport;
}

it("curates it", async () => {
  const report = await curated(join(folder, "all"), "0");
  expect(report).toMatchObject({
    spans: 180,
    conversations: 60,
    turns: 60,
    users,
    dropped: {},
    feedback: { records: 60, matched: 60, good: 20, bad: 20, corrections: 10 },
    rows: {
      tasks: { train: distinct, val: 0 },
      // Good ones and corrected ones.
      demonstrations: { train: 30, val: 0 },
      preferences: { train: 10, val: 0 },
      feedback: { train: 40, val: 0 },
    },
  });
});

it("holds out whole users, and nothing that is asked in training too", async () => {
  const { rows, dropped } = await curated(output, "0.2");
  const leaks = dropped["held out, but in training"] ?? 0;
  expect(Math.min(rows.tasks.val, leaks)).toBeGreaterThan(0);
  expect(JSON.parse(readFileSync(join(output, "report.json"), "utf8"))).toMatchObject({
    conversations: 60,
    rows,
  });
  const asked = (name: string): unknown[] =>
    rowsOf(name).map(({ messages }) => JSON.stringify(messages));
  const trained = new Set(asked("tasks.jsonl"));
  expect(asked("val/tasks.jsonl").filter((one) => trained.has(one))).toEqual([]);
});

it.each([
  ["sft", "demonstrations"],
  ["dpo", "preferences"],
  ["kto", "feedback"],
])("%s learns from %s.jsonl", async (command, name) => {
  const config = join(folder, "shop.yaml");
  writeFileSync(
    config,
    `model: { name: "builtin:shop-tiny" }
data: { train_batch_size: 4 }
trainer: { total_batches: 1, output_dir: ${JSON.stringify(join(folder, "runs"))} }
`,
  );
  const train = join(output, `${name}.jsonl`);
  const { out } = await run(command, config, "--train", train, "--json", "--quiet");
  expect(JSON.parse(out)).toMatchObject({ status: "completed", steps: 1 });
});
