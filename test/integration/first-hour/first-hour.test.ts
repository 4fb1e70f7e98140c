/**
 * Follows docs/first-hour.md: runs its commands, in order, in an empty folder, with the real model out of a
 * package in place of the one on the hub, and fewer steps. Takes some minutes of processor time.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { knownModels } from "../../../src/launch/init/known-models.ts";
import { codeBlocks, readPage } from "../../docs/pages.ts";
import {
  isShell,
  linkNamed,
  nameOf,
  notPrinted,
  runCommandLine,
  startServer,
  writePrograms,
} from "../../follow-page.ts";
import { freePort } from "../../free-port.ts";
import { smollm2 } from "../llama/smollm2.ts";

const blocks = codeBlocks(readPage("docs/first-hour.md"));
const named = knownModels[0]!.name;

/** What a page of fewer steps sets; both are options of every run. */
const shorter: Readonly<Record<string, string>> = {
  sft: "npx agent-trainer sft sft.yaml trainer.total_batches=4",
  train:
    "npx agent-trainer train train.yaml model.name=runs/sft trainer.total_batches=1 data.train_batch_size=2 rollout.n=4",
};
/** What is not run here: it needs the hub, a registry, a browser or Ollama. */
const skipped = new Set(["pull", "install", "view", "ollama"]);

/** By the name of the block. */
const printed = new Map<string, string>();
let server: AsyncDisposable | undefined;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-hour-"));
  const project = join(folder, "shop");
  const model = smollm2();
  const port = await freePort();
  const programs = { "agent-trainer": "agent-trainer/dist/cli/main.js" };
  await linkNamed(join(folder, "node_modules"), ["agent-trainer", "openai", "tsx"]);
  await writePrograms(join(folder, "node_modules"), programs);
  for (const block of blocks.filter(isShell)) {
    const name = nameOf(block) ?? `line ${block.line}`;
    if (skipped.has(name)) continue;
    const shown = shorter[name] ?? block.code;
    const code = shown.replaceAll(named, model).replaceAll("8100", String(port));
    const cwd = name === "init" ? folder : project;
    if (name === "serve") server = await startServer(code, cwd, port);
    else printed.set(name, await runCommandLine(code, cwd));
  }
}, 1_200_000);
afterAll(async () => server?.[Symbol.asyncDispose]());

it("runs every stage that the page names", () => {
  expect([...printed.keys()]).toEqual(
    expect.arrayContaining(["init", "before", "sft", "train", "after", "compare", "chat", "ask"]),
  );
});

it("begins from the demonstrations: the model calls the tools, which it never did before", () => {
  const reward = (name: string): number =>
    Number(/^all +reward +(?<mean>[\d.]+)/mu.exec(printed.get(name)!)?.groups?.["mean"]);
  expect(reward("before")).toBe(0);
  expect(printed.get("chat")).toContain("get_price");
});

it("shows what init prints", () => {
  expect(notPrinted(blocks, "init", printed.get("init")!)).toEqual([]);
});
