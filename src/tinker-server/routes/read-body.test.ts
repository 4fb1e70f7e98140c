/** Bodies of clients that are not JSON: Python's numbers, and text that means harm. */
import { expect, it } from "vitest";
import { parseJson, parseLeniently } from "./read-body.ts";

it.each([
  ['{"a": NaN, "b": [-Infinity ,Infinity]}', { a: null, b: [null, null] }, "NaN"],
  // A text is not changed.
  ['{"a": ": NaN,", "b": -Infinity}', { a: ": NaN,", b: null }, "-Infinity"],
  [String.raw`{"a": "\\", "b": NaN, "c": "\", NaN,"}`, { a: "\\", b: null, c: '", NaN,' }, "NaN"],
])("%s", (text, value, found) => {
  expect(parseLeniently(text)).toEqual(value);
  expect(() => parseJson(text)).toThrow(`NonFiniteInTensor: the body holds ${found}`);
});

it.each([
  ["spaces", `[${" ".repeat(4_000_000)}`],
  ["quotes", `["${'\\"'.repeat(2_000_000)}`],
  ["names", "N".repeat(4_000_000)],
])("4 MB of %s are read once", (_name, text) => {
  // Quadratic work on them would take hours.
  expect(parseLeniently(text)).toBeNull();
  expect(() => parseJson(text)).toThrow("The body is not JSON.");
});
