import { describe, expect, it } from "vitest";
import type { Tree } from "../camel-keys.ts";
import { interpolate } from "./interpolation.ts";

function resolved(tree: Tree, env: Record<string, string> = {}): Tree {
  interpolate(tree, {
    env,
    defaultOf: (key) => (key === "rollout.n" ? 8 : undefined),
    isText: (key) => key.endsWith("name"),
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
  it("may be of neighbours, of a level above, and of defaults", () => {
    expect(resolved({ a: { n: 2, b: { m: "${..n}", k: "${.m}" } }, c: "${rollout.n}" })).toEqual({
      a: { n: 2, b: { m: 2, k: 2 } },
      c: 8,
    });
  });
  it("may be written with rllm. and take whole maps", () => {
    expect(resolved({ a: { x: 1, y: "${rllm.b}" }, b: 5, c: "${a}" })).toMatchObject({
      c: { x: 1, y: 5 },
    });
  });
  it("may name another reference inside", () => {
    expect(resolved({ a: "${b.${which}}", b: { x: 1, y: 2 }, which: "y" })).toMatchObject({ a: 2 });
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

describe("environment variables", () => {
  it("are read as YAML, but stay text where the option takes text", () => {
    expect(
      resolved(
        { n: "${oc.env:N}", name: "${oc.env:N}", on: "${oc.env:ON}" },
        { N: "12", ON: "true" },
      ),
    ).toEqual({ n: 12, name: "12", on: true });
  });
  it("have a default, which may hold commas and references", () => {
    expect(
      resolved({
        a: "${oc.env:NO,3}",
        b: "${oc.env:NO,x,y}",
        c: "${oc.env:NO,${a}}",
        d: "${oc.env:NO,}",
      }),
    ).toEqual({ a: 3, b: "x,y", c: 3, d: null });
  });
  it("are part of a text", () => {
    expect(resolved({ name: "${oc.env:HOME}/runs" }, { HOME: "/home/me" })).toEqual({
      name: "/home/me/runs",
    });
  });
  it("select an option that may be unset", () => {
    expect(resolved({ a: "${oc.select:b.c,4}", d: "${oc.select:b.c}" })).toEqual({ a: 4, d: null });
  });
});

describe("what cannot be resolved", () => {
  it.each([
    [{ a: "${b}" }, "a refers to b, which no layer sets"],
    [{ a: "${oc.env:NOWHERE}" }, "needs the environment variable NOWHERE"],
    [{ a: "${b}", b: "${c}", c: "${a}" }, "refers to itself"],
    [{ a: "${a}" }, "refers to itself"],
    [{ a: "${oc.magic:b}" }, "uses ${oc.magic:...}, which is not a supported resolver"],
    [{ a: "x-${b}", b: { c: 1 } }, "is a list or a map"],
  ])("%j: %s", (tree, message) => {
    expect(() => resolved(tree)).toThrow(message);
  });
});
