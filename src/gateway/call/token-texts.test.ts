import { describe, expect, it } from "vitest";
import { countReasoning, tokenTextsOf } from "./token-texts.ts";

/** Tokens that are pieces of UTF-8, as those of byte-level tokenizers are; one without bytes is a control token. */
function pieces(...all: readonly (readonly number[] | string)[]) {
  const bytes = all.map((piece) => (typeof piece === "string" ? [...Buffer.from(piece)] : piece));
  const decoder = new TextDecoder();
  const renderer = {
    decode: (tokens: Int32Array): string =>
      decoder.decode(Uint8Array.from([...tokens].flatMap((id) => bytes[id] as number[]))),
  };
  const tokens = Int32Array.from(all, (_, i) => i);
  const completion = {
    choice: 0,
    message: { role: "assistant", content: "" },
    tokens,
    logprobs: new Float32Array(tokens.length),
    stopReason: "stop",
    weightVersion: 0,
  } as const;
  return { bytes, renderer, tokens, found: tokenTextsOf(completion, renderer) };
}

describe("bytes of tokens", () => {
  const melting = [...Buffer.from("🫠")];
  it.each<readonly [string, readonly (readonly number[] | string)[]]>([
    ["letters", ["ab", " c", "d"]],
    ["a character in bytes", [...melting.map((byte) => [byte])]],
    ["a character in two halves", ["a ", melting.slice(0, 2), melting.slice(2), " b"]],
    ["one and three", [melting.slice(0, 1), melting.slice(1)]],
    ["three and one", ["a", melting.slice(0, 3), melting.slice(3)]],
    ["text before the first half", [[0x61, ...melting.slice(0, 2)], melting.slice(2)]],
    ["text after the last half", [melting.slice(0, 2), [...melting.slice(2), 0x62], "c"]],
    [
      "two characters in a row",
      [...[..."🫠漢"].flatMap((c) => [...Buffer.from(c)].map((b) => [b]))],
    ],
    ["control tokens", [[], "a", [], melting.slice(0, 2), melting.slice(2), []]],
  ])("are those of the vocabulary: %s", (_name, all) => {
    const { bytes, found } = pieces(...all);
    expect(found.map((token) => token.bytes)).toEqual(bytes);
  });

  it("join to the text where a character was cut off", () => {
    const { found, renderer, tokens } = pieces("a", melting.slice(0, 2), [melting[2]!]);
    const joined = Buffer.from(found.flatMap(({ bytes = [] }) => bytes)).toString();
    expect(joined).toBe(renderer.decode(tokens));
  });
});

describe("tokens of reasoning", () => {
  it.each<readonly [readonly string[], string | undefined, number]>([
    [["<think>", "\n", "so", " it", " is", "\n", "</think>", "\n\n", "yes"], "so it is", 5],
    [["so", " it", " is"], "so it is", 3],
    [["a", "b"], undefined, 0],
    [["a", "b"], "", 0],
    [["漢", "字", "</think>", "漢"], "漢字", 2],
  ])("%j", (texts, reasoning, expected) => {
    const { renderer, tokens } = pieces(...texts);
    expect(countReasoning(tokens, reasoning, renderer)).toBe(expected);
  });

  it("decodes each token twice at most", () => {
    let decoded = 0;
    const decode = (tokens: Int32Array): string => {
      decoded += tokens.length;
      return "x".repeat(tokens.length);
    };
    const tokens = new Int32Array(10_000);
    expect(countReasoning(tokens, "x".repeat(7_321), { decode })).toBe(7_321);
    expect(decoded).toBeLessThanOrEqual(20_000);
  });
});
