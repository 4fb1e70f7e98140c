/** Follows docs/production.md: its commands in their order, on what an agent sent. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { ProductionStore } from "../../src/production/store/production-store.ts";
import { codeBlocks, readPage, root } from "../docs/pages.ts";
import { shopConversations } from "../finetune/trl-examples.ts";

const before = process.cwd();
// Inside of the repository, where the engine's thread finds tsx.
const cache = join(root, ".cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "production-page-"));
beforeAll(() => {
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const blocks = codeBlocks(readPage("docs/production.md")).filter(({ info }) => info[0] === "sh");
const commands = blocks
  .flatMap(({ code }) => code.split("\n"))
  .filter((line) => line.startsWith("npx agent-trainer "))
  .map((line) => line.replace(/^npx agent-trainer /u, "").replace(/\s+#.*$/u, ""));

/** Words of a line, those in quotes as one. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/gu)].map(([, quoted, plain]) => quoted ?? plain ?? "");

async function expectDone(line: string): Promise<string> {
  let [out, err] = ["", ""];
  const code = await runCli(wordsOf(line), {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  expect(code, `${line}\n${err}`).toBe(0);
  return out;
}

const rows = (list: readonly object[]): string =>
  list.map((row) => `${JSON.stringify(row)}\n`).join("");

/** What the page takes for granted: files of a program, and a configuration. */
function prepare(): void {
  const chats = shopConversations("page", 40).map((row, i) => ({
    ...row,
    user: `user${i % 10}`,
    id: `chat${i}`,
    label: i % 2 === 0,
  }));
  writeFileSync("chats.jsonl", rows(chats));
  writeFileSync("traces.jsonl", `${JSON.stringify({ resourceSpans: [] })}\n`);
  writeFileSync("langfuse.json", JSON.stringify({ data: [] }));
  writeFileSync("thumbs.jsonl", rows([{ traceId: "chat1", thumb: "up" }]));
  writeFileSync(
    "evaluator.mjs",
    "export const evaluator = (task, { output }) => output === task.metadata.answer;\n",
  );
  writeFileSync(
    "shop.yaml",
    `model: { name: "builtin:shop-tiny" }
evaluator: evaluator.mjs
data: { train_batch_size: 2 }
rollout: { n: 2, n_val: 1, train: { max_tokens: 24 }, val: { max_tokens: 24 } }
trainer: { total_batches: 1 }
`,
  );
}

const each = [...new Set(commands)];
const importing = each.filter((line) => / --format (?:otel|langfuse|openai|feedback)/u.test(line));
const later = each.filter((line) => /^(?:curate|sft|kto|train|env show) /u.test(line));

it("has commands of each kind", () => {
  prepare();
  expect(importing.length).toBe(3);
  expect(later.map((line) => line.split(" ")[0])).toEqual([
    "curate",
    "sft",
    "kto",
    "train",
    "env",
    "train",
  ]);
});

it.each(importing)("%s", async (line) => {
  expect(await expectDone(line)).toContain("spans");
});

it.each(later)("%s", async (line) => {
  await expectDone(line.startsWith("curate") || line.startsWith("env") ? line : `${line} --quiet`);
});

it("the store in code takes what the page shows", async () => {
  mkdirSync("code");
  await using store = new ProductionStore("code");
  const [record] = await store.addFeedback([
    { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", thumb: "up" },
  ]);
  expect(record!.at).toBeGreaterThan(0);
});
