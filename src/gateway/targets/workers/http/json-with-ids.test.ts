import { describe, expect, it } from "vitest";
import { parseWithIds } from "./json-with-ids.ts";

const ids = Array.from({ length: 3_000 }, (_, i) => (i * 7919) % 200_000);
const parse = (value: unknown, text = JSON.stringify(value)): unknown =>
  parseWithIds(Buffer.from(text));
/** As `JSON.parse` has it, to compare. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) =>
      each instanceof Int32Array ? Array.from(each) : each,
    ),
  );

describe("ids read from bytes", () => {
  const places = {
    "of a chat answer": { id: "a", prompt_token_ids: ids, choices: [{ text: "é" }] },
    "of a choice": { id: "a", choices: [{ index: 0, prompt_token_ids: ids, text: "日本" }] },
    "of a later choice": { choices: [{ prompt_token_ids: null }, { prompt_token_ids: ids }] },
  };
  it.each(Object.entries(places))("%s", (_, value) => {
    const read = parse(value);
    expect(plain(read)).toEqual(value);
    expect(JSON.stringify(read)).toContain('"0":0,"1":7919');
  });
});

describe("left to JSON.parse", () => {
  const tail = { choices: [] };
  const values = {
    "short lists": { prompt_token_ids: [1, 2, 3], ...tail },
    "other numbers": { prompt_token_ids: [...ids, -1], ...tail },
    fractions: { prompt_token_ids: [...ids, 0.5], ...tail },
    "more than 32 bits": { prompt_token_ids: [...ids, 2 ** 40], ...tail },
    "lists in lists": { prompt_token_ids: [ids, ids], ...tail },
    "names like it within texts": { text: `"prompt_token_ids":[${ids.join()}]`, ...tail },
    "another place": { deep: { prompt_token_ids: ids }, ...tail },
    "an empty list before it": { prompt_token_ids: [], deep: { prompt_token_ids: ids } },
    "a text of backslashes before it": { "\\": "\\", prompt_token_ids: null, ...tail },
  };
  it.each(Object.entries(values))("%s", (_, value) => {
    expect(plain(parse(value))).toEqual(value);
  });
  it("lists with spaces", () => {
    const text = `{"prompt_token_ids":[${ids.join(", ")}]}`;
    expect(parse(undefined, text)).toEqual({ prompt_token_ids: ids });
  });
  it.each(["", "{", `{"prompt_token_ids":[${ids.join()}`, `{"prompt_token_ids":[${ids.join()},]}`])(
    "what is broken (%#)",
    (text) => {
      expect(() => parse(undefined, text)).toThrow(SyntaxError);
    },
  );
});
