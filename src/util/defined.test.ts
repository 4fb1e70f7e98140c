import { expect, expectTypeOf, test } from "vitest";
import { defined } from "./defined.ts";

test("fields that are undefined are absent, those that are null or false are not", () => {
  const fields = defined({ a: 1, b: undefined, c: null, d: false, e: "" });
  expect(Object.keys(fields)).toEqual(["a", "c", "d", "e"]);
});

test("every field of the type is optional, and none may be undefined", () => {
  const hint = Math.random() < 2 ? "h" : undefined;
  expectTypeOf(defined({ hint })).toEqualTypeOf<{ hint?: string }>();
});
