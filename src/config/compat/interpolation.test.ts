import { describe, expect, it } from "vitest";
import type { Tree } from "../camel-keys.ts";
import { interpolate } from "./interpolation.ts";

function resolved(tree: Tree): Tree {
  interpolate(tree, {
    defaultOf: (key) => (key === "rollout.n" ? 8 : undefined),
    isForeign: (key) => key === "verl.config",
  });
  return tree;
}

describe("references", () => {
  it("take the value and the type of another option, whether before or after", () => {
    expect(resolved({ a: "${b.c}", b: { c: 3, d: "${a}" }, l: ["${b.c}", "x"] })).toEqual({
      a: 3,
      b: { c: 3, d: 3 },
      l: [3, "x"],
    });
  });
  it("become part of a text that holds more than them", () => {
    expect(resolved({ a: 3, b: "run-${a}-${c}", c: "x" })).toMatchObject({ b: "run-3-x" });
  });
  it("may be of neighbours, and of defaults", () => {
    expect(resolved({ a: { n: 2, k: "${.n}" }, c: "${rollout.n}" })).toEqual({
      a: { n: 2, k: 2 },
      c: 8,
    });
  });
  it("may be written with rllm. and take whole maps", () => {
    expect(resolved({ a: { x: 1, y: "${rllm.b}" }, b: 5, c: "${a}" })).toMatchObject({
      c: { x: 1, y: 5 },
    });
  });
  it("select an option that may be unset, with a default that may hold commas", () => {
    expect(
      resolved({ a: "${oc.select:b.c,4}", d: "${oc.select:b.c}", e: "${oc.select:b,x,y}" }),
    ).toEqual({ a: 4, d: null, e: "x,y" });
  });
  it("leave plain text and the options of others alone", () => {
    const tree = { a: "\\${b}", c: "costs $5", verl: { config: { x: "${trainer.n}" } } };
    expect(resolved(tree)).toEqual({
      a: "${b}",
      c: "costs $5",
      verl: { config: { x: "${trainer.n}" } },
    });
  });
});

describe("what cannot be resolved", () => {
  it.each([
    [{ a: "${b}" }, "a refers to b, which no layer sets"],
    [{ a: "${oc.env:HOME}" }, "uses ${oc.env:...}, which is not a supported resolver"],
    [{ a: "${b.${c}}", b: { x: 1 }, c: "x" }, "not closed, or has another one inside"],
    [{ a: "${b", b: 1 }, "not closed"],
    [{ a: "${b}", b: "${c}", c: "${a}" }, "refers to itself"],
    [{ a: "${a}" }, "refers to itself"],
    [{ a: "${oc.magic:b}" }, "uses ${oc.magic:...}, which is not a supported resolver"],
    [{ a: "x-${b}", b: { c: 1 } }, "is a list or a map"],
  ])("%j: %s", (tree, message) => {
    expect(() => resolved(tree)).toThrow(message);
  });
});
