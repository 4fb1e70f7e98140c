/** Tasks for the tools of a server that the official SDK runs, and training's own loop at them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import type { GeneratedTask } from "../../src/environments/generate/generate-tasks.ts";
import { toolChecks } from "../../src/evaluators/index.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
// @ts-expect-error -- A program, and what it is made of.
import { serveShop as serve } from "./mcp-shop-server.mjs";

const serveShop = serve as () => Promise<{ url: string; close: () => Promise<void> }>;

const folder = mkdtempSync(join(tmpdir(), "generate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const command = `${process.execPath} ${join(import.meta.dirname, "mcp-shop-server.mjs")}`;

async function generate(name: string, server: string, flags: readonly string[]) {
  const output = join(folder, `${name}.jsonl`);
  let [out, err] = ["", ""];
  const status = await runCli(
    ["dataset", "generate", "--mcp", server, "--output", output, "--json", ...flags],
    {
      stdout: { write: (text: string) => (out += text) },
      stderr: { write: (text: string) => (err += text) },
    },
  );
  expect([0, 1], err).toContain(status);
  const report = JSON.parse(out) as {
    readonly tried: number;
    readonly tools: readonly string[];
    readonly dropped: Readonly<Record<string, number>>;
  };
  const read = (): string => readFileSync(output, "utf8");
  const tasks = (): GeneratedTask[] =>
    read()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as GeneratedTask);
  return { status, report, read, tasks };
}

const callText = (call: { readonly name: string; readonly arguments: object }): string =>
  `<tool_call>${JSON.stringify({ name: call.name, arguments: call.arguments })}</tool_call>`;

it("makes tasks by templates whose solution passes in training's loop, and others do not", async () => {
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const made = await generate("templates", shop.url, ["--count", "8", "--seed", "3"]);
  const tasks = made.tasks();
  expect(tasks).toHaveLength(8);
  expect(made.report.tools).not.toContain("close_shop");
  expect(tasks.flatMap(({ calls }) => calls.map(({ name }) => name))).not.toContain("now");
  expect(made.report.dropped["another result the second time"]).toBeGreaterThan(0);
  expect(new Set(tasks.map(({ instruction }) => instruction)).size).toBe(8);
  expect(tasks.some(({ checks }) => checks !== undefined)).toBe(true);
  // What the tools said is what others are called with.
  for (const { name, arguments: given, result } of tasks.flatMap(({ calls }) => calls))
    if (name === "get_price")
      expect(result).toBe({ shoes: "80", hat: "25", scarf: "15" }[String(given["product"])]);

  const rewards = async (skipsCalls: boolean) => {
    const { items } = await evaluate({
      env: `mcp:${shop.url}`,
      dataset: tasks.map((task) => ({ ...task })),
      config: {},
      evaluator: toolChecks(),
      model: createScriptedTarget(({ text }) => {
        const task = tasks.find(({ instruction }) => text.includes(instruction))!;
        const said = text.slice(text.indexOf(task.instruction));
        const next = skipsCalls ? undefined : task.calls[said.split("<tool_call>").length - 1];
        return next === undefined ? task.answer : callText(next);
      }),
    });
    return items.map(({ reward }) => reward);
  };
  expect(await rewards(false)).toEqual(tasks.map(() => 1));
  // Answers alone do not pass where something had to be changed.
  expect(await rewards(true)).toEqual(tasks.map(({ checks }) => (checks === undefined ? 1 : 0)));

  const again = await generate("again", shop.url, ["--count", "8", "--seed", "3"]);
  expect(again.read()).toBe(made.read());
}, 120_000);

it("takes what a model writes, and drops what is wrong, refused, changing or there already", async () => {
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const price = (product: string) => ({ tool: "get_price", arguments: { product } });
  const link = { a: 3, b: { $result: 0 } };
  const written = [
    { instruction: "What does a hat cost?", calls: [price("hat")] },
    { instruction: "what does a  HAT cost?", calls: [price("hat")] },
    {
      instruction: "What do three scarves cost?",
      calls: [price("scarf"), { tool: "multiply", arguments: link }],
    },
    { instruction: "What does a boat cost?", calls: [price("boat")] },
    { instruction: "Close the shop.", calls: [{ tool: "close_shop", arguments: {} }] },
    { instruction: "Which number is it now?", calls: [{ tool: "now", arguments: {} }] },
    {
      instruction: "What is in it?",
      calls: [{ tool: "multiply", arguments: { a: { $result: 4 }, b: 1 } }],
    },
    {
      instruction: "Put four hats into the cart.",
      calls: [{ tool: "add_to_cart", arguments: { product: "hat", count: 4 } }],
    },
  ];
  const requests: string[] = [];
  const model = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += String(part)));
    request.on("end", () => {
      requests.push(body);
      const content = requests.length === 1 ? `Here:\n${JSON.stringify(written)}` : "no more";
      const usage = { prompt_tokens: 10, completion_tokens: 5 };
      response.end(
        JSON.stringify({ choices: [{ message: { role: "assistant", content } }], usage }),
      );
    });
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  const { port } = model.address() as AddressInfo;
  const { tasks, report } = await generate("model", shop.url, [
    ...["--model", `http://127.0.0.1:${port}/v1`, "--model-name", "writer"],
  ]);
  await new Promise((resolve) => model.close(resolve));
  expect(tasks().map(({ instruction, answer }) => [instruction, answer])).toEqual([
    ["What does a hat cost?", "25"],
    ["What do three scarves cost?", "45"],
    ["Put four hats into the cart.", "1 entries"],
  ]);
  expect(tasks()[2]?.checks).toEqual([
    { name: "show_cart", arguments: {}, result: '[{"product":"hat","count":4}]' },
  ]);
  expect(report.dropped).toEqual({
    "a duplicate": 1,
    "a call that was refused": 1,
    "a tool that is not offered": 1,
    "another result the second time": 1,
    "arguments that lead nowhere": 1,
  });
  expect(report).toMatchObject({ tokens: { prompt: 40, completion: 20 } });
  // Asked to write others, and shown what there is.
  expect(requests[0]).toContain("list_products: ");
  expect(requests[1]).toContain("Put four hats into the cart.");
}, 60_000);

it("refuses tools that the server does not have, and half a model", async () => {
  let err = "";
  const io = {
    stdout: { write: () => {} },
    stderr: { write: (text: string) => (err += text) },
  };
  const base = ["dataset", "generate", "--mcp", command, "--output", join(folder, "none.jsonl")];
  expect(await runCli([...base, "--tools", "fly"], io)).toBe(2);
  expect(err).toContain('no tool "fly"');
  expect(await runCli([...base, "--model-name", "x"], io)).toBe(2);
  expect(err).toContain("--model is missing");
});
