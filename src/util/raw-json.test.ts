import { expect, it } from "vitest";
import { RawJson, writeJson } from "./raw-json.ts";

const text = '{"b": 1.0, "10": [1e-07], "2": 9007199254740993}';

it("writes the text as it is, wherever it stands", () => {
  const raw = new RawJson(text);
  expect(writeJson({ a: raw, list: [1, raw], text: "$&" })).toBe(
    `{"a":${text},"list":[1,${text}],"text":"$&"}`,
  );
  expect(writeJson([new RawJson('"$1 $&"')])).toBe('["$1 $&"]');
});

it("is written by JSON.stringify with what JavaScript keeps", () => {
  expect(JSON.stringify({ a: new RawJson('{"b": 1.50}') })).toBe('{"a":{"b":1.5}}');
});

it("writes what has none as JSON.stringify does, and recovers from what cannot be written", () => {
  expect(writeJson({ a: undefined, b: [null, "é"] })).toBe('{"b":[null,"é"]}');
  const circle: { self?: object } = {};
  circle.self = circle;
  expect(() => writeJson(circle)).toThrow(TypeError);
  expect(JSON.stringify(new RawJson("[1.0]"))).toBe("[1]");
});
