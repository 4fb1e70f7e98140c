import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import { vocabularyOf, watchPrompts } from "./foreign-prompts.ts";
import { findModel } from "./find-model.ts";
import { loadModelRenderer } from "./load-model.ts";

const { path } = await findModel("builtin:shop-tiny");
const plain = await loadModelRenderer(path);
const model = {
  name: "builtin:shop-tiny",
  vocabulary: await vocabularyOf(path),
  contextLength: 512,
};

function watch() {
  const said: string[] = [];
  return { said, renderer: watchPrompts(plain, model, (message) => said.push(message)) };
}

const tool = (name: string, properties: object): ToolDefinition =>
  ({ name, parameters: { type: "object", properties } }) as ToolDefinition;
const shopTools = [
  tool("get_price", { item: { type: "string" } }),
  tool("multiply", { a: { type: "number" }, b: { type: "number" } }),
];
const ask = (content: string, system = "You are a shop assistant."): ChatMessage[] => [
  { role: "system", content: system },
  { role: "user", content },
];

const root = fileURLToPath(new URL("../../../", import.meta.url));
const questions = ["train.jsonl", "val.jsonl"].flatMap((file) =>
  readFileSync(join(root, "templates/common", file), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { instruction: string }).instruction),
);

describe("prompts of the shop", () => {
  it.each(questions)("%s", (question) => {
    const { said, renderer } = watch();
    const first = { role: "assistant", content: "" } as const;
    const call = { id: "1", name: "get_price", arguments: '{"item": "lamp"}' };
    const turns: ChatMessage[] = [
      ...ask(question),
      { ...first, toolCalls: [call] },
      { role: "tool", toolCallId: "1", content: "45" },
    ];
    renderer.render(ask(question), { tools: shopTools });
    renderer.render(ask(question, "You are a shop assistant."));
    renderer.render([{ role: "user", content: question }]);
    renderer.render(turns, { tools: shopTools });
    expect(said).toEqual([]);
  });
});

it.each<readonly [string, ChatMessage[], ToolDefinition[]]>([
  ["another task", ask("What is the weather in Paris tomorrow?", "You are helpful."), []],
  [
    "the shop's words with another tool",
    ask("How much do 3 lamps cost?"),
    [tool("lookup_booking", { confirmation_code: { type: "string" } })],
  ],
  ["another language", ask("Wie viel kosten drei Lampen und vier Stühle zusammen?"), []],
  [
    "a word problem",
    ask("Natalia sold clips to 48 of her friends in April and half as many in May."),
    [],
  ],
])("says once that it does not know %s", (_name, messages, tools) => {
  const { said, renderer } = watch();
  for (let call = 0; call < 3; call++) renderer.render(messages, { tools });
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/builtin:shop-tiny: \d\.\d characters for a token/u);
  expect(said[0]).toContain("512 word pieces and 512 tokens of context");
  expect(said[0]).toContain("model.name=HuggingFaceTB/SmolLM2-135M-Instruct");
});

it("says it of a prompt that does not fit, too", () => {
  const { said, renderer } = watch();
  const long = ask(
    `Summarize this complaint of a customer: ${"the parcel was broken. ".repeat(20_000)}`,
  );
  expect(() => renderer.render(long, { contextLength: 512 })).toThrow(/context/u);
  expect(said).toHaveLength(1);
  const own = watch();
  const shop = ask("How much do 3 lamps cost? ".repeat(20_000));
  expect(() => own.renderer.render(shop, { contextLength: 512 })).toThrow(/context/u);
  expect(own.said).toEqual([]);
});

it("gives everything else on as it is, and leaves other models alone", () => {
  const { renderer } = watch();
  const { tokens } = plain.render(ask("How much do 3 lamps cost?"), { tools: shopTools });
  expect(renderer.render(ask("How much do 3 lamps cost?"), { tools: shopTools }).tokens).toEqual(
    tokens,
  );
  const names = new Set([
    ...Object.getOwnPropertyNames(plain),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(plain)),
  ]) as Set<keyof typeof plain>;
  for (const name of names) expect(typeof renderer[name]).toBe(typeof plain[name]);
  expect(renderer.decode(tokens)).toBe(plain.decode(tokens));
  const large = { ...model, vocabulary: 49_152 };
  expect(watchPrompts(plain, large, () => undefined)).toBe(plain);
});

it("reads the vocabulary of every model that is built in", async () => {
  for (const name of readdirSync(join(root, "models")))
    expect(await vocabularyOf(join(root, "models", name))).toBe(512);
});
