import { expect, it } from "vitest";
import { findStop, partialStopLength, TextReader } from "./text-reader.ts";

const decoder = new TextDecoder();
const bytes = (tokens: Int32Array): string => decoder.decode(Uint8Array.from(tokens));

it("gives the text of the whole, however it is cut", () => {
  const text = "aé€😀 \n" + "long ".repeat(40);
  const tokens = Int32Array.from(new TextEncoder().encode(text));
  for (const size of [1, 2, 3, 5, 1000]) {
    const reader = new TextReader(bytes);
    let seen = "";
    for (let i = 0; i < tokens.length; i += size) {
      seen += reader.push(tokens.subarray(i, i + size));
      expect(text.startsWith(seen)).toBe(true);
    }
    expect([seen, reader.finish()]).toEqual([text, ""]);
    expect(reader.length).toBe(tokens.length);
  }
});

it("decodes a window, not everything again", () => {
  let decoded = 0;
  const counting = (tokens: Int32Array): string => {
    decoded += tokens.length;
    return bytes(tokens);
  };
  const reader = new TextReader(counting);
  let text = "";
  for (let i = 0; i < 1000; i++) text += reader.push(Int32Array.of(97));
  expect(text).toHaveLength(1000);
  expect(decoded).toBeLessThan(5000);
});

it("keeps the spaces of tokenizers that drop them at the start", () => {
  const words = ["▁Hello", "▁wor", "ld"];
  const decode = (tokens: Int32Array): string =>
    Array.from(tokens, (id) => words[id])
      .join("")
      .replaceAll("▁", " ")
      .replace(/^ /, "");
  const reader = new TextReader(decode);
  expect([0, 1, 2].map((id) => reader.push(Int32Array.of(id)))).toEqual(["Hello", " wor", "ld"]);
});

it("gives half a character once nothing can complete it", () => {
  const reader = new TextReader(bytes);
  expect(reader.push(Int32Array.of(97, 0xe2, 0x82))).toBe("");
  expect(reader.finish()).toBe("a\uFFFD");
});

it("finds the earliest stop string, and ends that may become one", () => {
  expect(findStop("xxabcab", ["b", "abc"])).toBe(2);
  expect(findStop("xxabcab", ["b"], 4)).toBe(6);
  expect(findStop("xx", ["b"])).toBe(-1);
  expect(partialStopLength("hello EN", ["END", "lo E!"])).toBe(2);
  expect(partialStopLength("aab", ["aabaac"])).toBe(3);
  expect(partialStopLength("END", ["END"])).toBe(0);
});
