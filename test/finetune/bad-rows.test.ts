/** What is wrong with one row stays with it: it is named by file and line, or skipped and counted. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sharedCases } from "../shared-cases.ts";
import { makeModel, preview } from "./small-models.ts";

/** Refuses system messages, results of tools, and a question that is too hard, each in its own way. */
const strict = `{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{% if m.role == 'tool' %}{{ m.content.nothing.more }}{% endif %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

function written(folder: string, rows: readonly unknown[]): string {
  const file = join(folder, "rows.jsonl");
  writeFileSync(
    file,
    rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""),
  );
  return file;
}
const losses = { sft: "sft", dpo: { type: "dpo" }, kto: { type: "kto" } } as const;

interface Case {
  readonly kind: string;
  readonly files: { readonly "tokenizer_config.json": { readonly chat_template: string } };
  readonly rows: readonly unknown[];
  readonly command: string;
}
const shared = sharedCases("training/models.json");

describe.skipIf(shared === null)("shared rows that the template refuses", () => {
  const all = shared === null ? [] : (JSON.parse(readFileSync(shared, "utf8")) as Case[]);
  const cases = all.filter(({ kind }) => kind === "rows that the template refuses");
  const template = cases[0]?.files["tokenizer_config.json"].chat_template;
  it.each(cases)("$command", async ({ command, rows }) => {
    const loss = losses[command.startsWith("dpo") ? "dpo" : "sft"];
    const folder = makeModel({ template: template! });
    const file = written(folder, rows);
    await expect(preview(folder, file, { loss })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/rows\.jsonl:2: .*no system/u) as string,
      hint: expect.stringContaining("skip_bad_rows") as string,
    });
    const { examples, warnings } = await preview(folder, file, { loss, skipBadRows: true });
    expect(examples.train).toBe(1);
    expect(warnings.join()).toMatch(
      /1 row of the training examples cannot be used and was skipped; the first: .*rows\.jsonl:2: .*no system/u,
    );
  });
});

const user = { role: "user", content: "hi" };
const good = { messages: [user, { role: "assistant", content: "4" }] };
const withSystem = { messages: [{ role: "system", content: "s" }, ...good.messages] };
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

it.each<[string, keyof typeof losses, readonly unknown[], RegExp]>([
  ["sft", "sft", [good, withSystem], /no system/u],
  [
    "dpo",
    "dpo",
    [
      { prompt: "q", chosen: "a", rejected: "b" },
      { prompt: withSystem.messages.slice(0, 2), chosen: "a", rejected: "b" },
    ],
    /no system/u,
  ],
  [
    "kto",
    "kto",
    [
      { ...good, label: true },
      { ...good, label: false },
      { ...withSystem, label: true },
    ],
    /no system/u,
  ],
  [
    "a result that the template cannot write",
    "sft",
    [
      good,
      {
        messages: [
          user,
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "c", content: "r" },
          { role: "assistant", content: "a" },
        ],
      },
    ],
    /cannot write|refuses/u,
  ],
  [
    "values nested too deep",
    "sft",
    [
      good,
      `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${deep(9_000)}}}]},{"role":"tool","tool_call_id":"c","content":"r"},{"role":"assistant","content":"a"}]}`,
    ],
    /./u,
  ],
  ["a line that is not JSON", "sft", [good, "{"], /not valid JSON/u],
])("%s: the row is named, or skipped and counted", async (_, loss, rows, message) => {
  const folder = makeModel({ template: strict });
  const file = written(folder, rows);
  const options = { loss: losses[loss] };
  await expect(preview(folder, file, options)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(message) as string,
  });
  await expect(preview(folder, file, options)).rejects.toThrow(`rows.jsonl:${rows.length}: `);
  const { examples, warnings } = await preview(folder, file, { ...options, skipBadRows: true });
  expect(examples.train).toBe(rows.length - 1);
  expect(warnings.join()).toMatch(
    new RegExp(`1 row of .* skipped; the first: .*rows\\.jsonl:${rows.length}`, "u"),
  );
});

it("a setting that is wrong for all rows is not one of them", async () => {
  const folder = makeModel({ template: strict });
  const file = written(folder, [withSystem]);
  await expect(preview(folder, file, { skipBadRows: true })).rejects.toThrow(
    /no training examples that can be used\. 1 row .* no system/u,
  );
  await expect(preview(folder, join(folder, "none.jsonl"), { skipBadRows: true })).rejects.toThrow(
    /does not exist/u,
  );
});
