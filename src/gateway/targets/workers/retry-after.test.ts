import { expect, it } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

// The example date of RFC 9110, section 10.2.3.
const date = "Fri, 31 Dec 1999 23:59:59 GMT";
const midnight = Date.UTC(2000, 0, 1);

it.each([
  ["120", 120],
  [" 0.5 ", 0.5],
  ["-3", 0],
  ["", undefined],
  ["soon", undefined],
  [undefined, undefined],
])("reads %j as %j seconds", (value, seconds) => {
  expect(readRetryAfter(value)).toBe(seconds);
});

it("reads dates as the time until then, none when they have passed", () => {
  expect(readRetryAfter(date, midnight - 31_000)).toBe(30);
  expect(readRetryAfter(date, midnight)).toBe(0);
});
