/** Which renderer a model folder gets. */
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadRenderer } from "../../src/models/renderers/load.ts";
import { smollm2Template } from "./templates.ts";

const tiny = new URL("../../models/shop-tiny/tokenizer.json", import.meta.url);
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "renderer-"));
  await copyFile(tiny, join(folder, "tokenizer.json"));
});
afterEach(() => rm(folder, { recursive: true }));

const write = (name: string, value: unknown): Promise<void> =>
  writeFile(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
const question = [{ role: "user", content: "Q" }] as const;
const other = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}";

async function rendered(options = {}): Promise<[string, string]> {
  const renderer = await loadRenderer(folder, options);
  const { tokens } = renderer.render(question);
  return [renderer.family, renderer.decode(tokens)];
}

it("takes a native family with the template's own system prompt", async () => {
  await write("tokenizer_config.json", { chat_template: smollm2Template });
  const [family, text] = await rendered();
  expect(family).toBe("chatml");
  expect(text).toContain("named SmolLM");
});

it("takes the template itself where no family writes the same", async () => {
  await write("tokenizer_config.json", { chat_template: other });
  expect(await rendered()).toEqual(["jinja", "user: Q"]);
});

it("reads a list of templates, and chat_template.jinja before everything else", async () => {
  const list = [
    { name: "tool_use", template: "T" },
    { name: "default", template: other },
  ];
  await write("tokenizer_config.json", { chat_template: list });
  expect(await rendered()).toEqual(["jinja", "user: Q"]);
  await write("chat_template.jinja", "J{{ messages[0].content }}");
  expect(await rendered()).toEqual(["jinja", "JQ"]);
});

it("gives templates a fixed date", async () => {
  await write("tokenizer_config.json", { chat_template: "{{ strftime_now('%d %B %Y, %a') }}" });
  expect(await rendered()).toEqual(["jinja", "26 July 2024, Fri"]);
  expect(await rendered({ date: "1 May" })).toEqual(["jinja", "1 May"]);
});

it.each([{}, { chat_template: "" }, { chat_template: [] }])(
  "refuses a model without a template: %j",
  async (config) => {
    await write("tokenizer_config.json", config);
    await expect(loadRenderer(folder)).rejects.toThrow("no chat template");
  },
);

it("refuses a template that is no Jinja", async () => {
  await write("tokenizer_config.json", { chat_template: "{% for %}" });
  await expect(loadRenderer(folder)).rejects.toThrow("cannot be read");
});

it("says what a template refuses", async () => {
  const template = "{{ raise_exception('no systems') }}";
  await write("tokenizer_config.json", { chat_template: template });
  const renderer = await loadRenderer(folder);
  expect(() => renderer.render(question)).toThrow("no systems");
});
