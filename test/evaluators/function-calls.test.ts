/** Function calls by the rules of the Berkeley Function-Calling Leaderboard. */
import { describe, expect, it } from "vitest";
import {
  functionCalls,
  type FunctionCallsOptions,
  type MadeCall,
} from "../../src/evaluators/index.ts";
import { makeStep } from "../make-step.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const tools = [
  {
    // simple_0 of the leaderboard.
    name: "calculate_triangle_area",
    parameters: {
      type: "object",
      properties: {
        base: { type: "integer" },
        height: { type: "integer" },
        unit: { type: "string" },
      },
      required: ["base", "height"],
    },
  },
  {
    name: "math.hypot",
    parameters: {
      type: "dict",
      properties: { x: { type: "float" }, y: { type: "float" } },
      required: ["x"],
    },
  },
  {
    name: "book",
    parameters: {
      type: "object",
      properties: {
        day: { type: "string" },
        seats: { type: "array", items: { type: "string" } },
        guest: { type: "dict" },
        guests: { type: "array", items: { type: "dict" } },
      },
      required: ["day"],
    },
  },
];

const triangle = { calculate_triangle_area: { base: [10], height: [5], unit: ["units", ""] } };
const call = (name: string, args: unknown): MadeCall => ({ name, arguments: JSON.stringify(args) });
const area = (args: unknown): MadeCall => call("calculate_triangle_area", args);

function score(
  answer: unknown,
  calls: readonly MadeCall[],
  options: FunctionCallsOptions<Record<string, unknown>> = {},
): number {
  const evaluate = functionCalls({ tools: () => tools, calls: () => calls, ...options });
  return evaluate(taskOf({ answer }), episodeOf("")).reward;
}

describe("functionCalls", () => {
  it.each([
    ["the call", area({ base: 10, height: 5, unit: "units" }), 1],
    ["without an optional parameter", area({ base: 10, height: 5 }), 1],
    ["a text in another case", area({ base: 10, height: 5, unit: "Units." }), 1],
    ["without a required parameter", area({ base: 10 }), 0],
    ["another value", area({ base: 10, height: 6 }), 0],
    ["another type", area({ base: "10", height: 5 }), 0],
    ["no integer", area({ base: 10.5, height: 5 }), 0],
    ["an unexpected parameter", area({ base: 10, height: 5, x: 1 }), 0],
    ["an inherited parameter", area({ base: 10, height: 5, constructor: 1 }), 0],
    ["another name", call("area", { base: 10, height: 5 }), 0],
    ["a list of arguments", area([10, 5]), 0],
    ["no JSON", { name: "calculate_triangle_area", arguments: "{base: 10" }, 0],
    [
      "arguments as an object",
      { name: "calculate_triangle_area", arguments: { base: 10, height: 5 } },
      1,
    ],
  ])("%s", (_name, made, reward) => {
    expect(score([triangle], [made])).toBe(reward);
  });

  it.each([
    [
      "an integer for a float",
      { "math.hypot": { x: [3.0], y: [4.0] } },
      call("math_hypot", { x: 3, y: 4 }),
      1,
    ],
    [
      "a parameter that is neither given nor optional",
      { "math.hypot": { x: [3], y: [4] } },
      call("math.hypot", { x: 3 }),
      0,
    ],
    [
      "dates with other signs",
      { book: { day: ["April 1, 2024"] } },
      call("book", { day: "april 1 2024" }),
      1,
    ],
    [
      "a list in order",
      { book: { day: ["x"], seats: [["A 1", "B-2"]] } },
      call("book", { day: "x", seats: ["a1", "b2"] }),
      1,
    ],
    [
      "a list in another order",
      { book: { day: ["x"], seats: [["A1", "B2"]] } },
      call("book", { day: "x", seats: ["B2", "A1"] }),
      0,
    ],
    [
      "a longer list",
      { book: { day: ["x"], seats: [["A1"]] } },
      call("book", { day: "x", seats: ["A1", "A1"] }),
      0,
    ],
    [
      "an object",
      { book: { day: ["x"], guest: [{ name: ["Ann"], age: [3, ""] }] } },
      call("book", { day: "x", guest: { name: "ann" } }),
      1,
    ],
    [
      "an object with a key too many",
      { book: { day: ["x"], guest: [{ name: ["Ann"] }] } },
      call("book", { day: "x", guest: { name: "ann", age: 3 } }),
      0,
    ],
    [
      "an object without a key",
      { book: { day: ["x"], guest: [{ name: ["Ann"], age: [3] }] } },
      call("book", { day: "x", guest: { name: "ann" } }),
      0,
    ],
    [
      "a list of objects",
      { book: { day: ["x"], guests: [[{ name: ["Ann"] }, { name: ["Bo"] }]] } },
      call("book", { day: "x", guests: [{ name: "Ann" }, { name: "Bo" }] }),
      1,
    ],
    [
      "a variable's name",
      { "math.hypot": { x: ["width"], y: [""] } },
      call("math.hypot", { x: "width" }),
      1,
    ],
  ])("%s", (_name, expected, made, reward) => {
    expect(score([expected], [made])).toBe(reward);
  });

  it("matches parallel calls in any order, unless order counts", () => {
    const other = { calculate_triangle_area: { base: [1], height: [2] } };
    const made = [area({ base: 1, height: 2 }), area({ base: 10, height: 5 })];
    expect(score([triangle, other], made)).toBe(1);
    expect(score([triangle, other], made, { ordered: true })).toBe(0);
    expect(score([other, triangle], made, { ordered: true })).toBe(1);
    expect(score([triangle, triangle], made)).toBe(0);
    expect(score([triangle], made)).toBe(0);
  });

  it("expects no call where none is right", () => {
    expect(score([], [])).toBe(1);
    expect(score([], [area({})])).toBe(0);
    expect(score([triangle], [])).toBe(0);
  });

  it("reads calls and tools from the traces", () => {
    const say = (base: number) =>
      makeStep({
        tools,
        response: {
          role: "assistant",
          content: "",
          toolCalls: [
            { id: "1", name: "calculate_triangle_area", arguments: `{"base":${base},"height":5}` },
          ],
        },
      });
    const final = makeStep({ response: { role: "assistant", content: "25" } });
    const episode = episodeOf("25", [say(9), say(10), final]);
    expect(functionCalls()(taskOf({ answer: [triangle] }), episode).reward).toBe(1);
    const unknown = { calculate_triangle_area: { base: [10], height: [5], side: [""] } };
    expect(functionCalls()(taskOf({ answer: [unknown] }), episode).reward).toBe(1);
  });

  it.each([[[{ f: { x: 1 } }]], [[{ f: {}, g: {} }]], [["f"]], [[null]]])(
    "refuses %j as expected calls",
    (answer) => {
      expect(() => score(answer, [])).toThrow(
        expect.objectContaining({ code: "EVALUATOR_FAILED" }),
      );
    },
  );

  it("needs a reference", () => {
    expect(() => score(undefined, [])).toThrow(/no reference/u);
  });
});
