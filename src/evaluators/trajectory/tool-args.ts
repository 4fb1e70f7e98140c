/** When the arguments of two tool calls match. */
import { type ExactJson, isSameJson, plainOf } from "../../util/exact-json.ts";
import { valueAt } from "../json/read-json.ts";

/** Arguments of a tool call, with all digits of their numbers. */
export type ExactArgs = ReadonlyMap<string, ExactJson>;

/** Arguments of a tool call, parsed. */
export type ToolArgs = Readonly<Record<string, unknown>>;

/**
 * How the arguments of a call are compared: `exact`, all are equal; `subset`, those of the episode are among
 * those of the reference; `superset`, those of the reference are among those of the episode; `ignore`, not at
 * all.
 *
 * @example
 * const mode: ToolArgsMode = "ignore";
 */
export type ToolArgsMode = "exact" | "ignore" | "subset" | "superset";

/**
 * How the arguments for one tool are compared: by a mode, by the paths of the fields that must be equal, or by
 * a function.
 *
 * @example
 * const sameCity: ToolArgsRule = (made, expected) =>
 *   String(made.city).toLowerCase() === String(expected.city).toLowerCase();
 */
export type ToolArgsRule =
  | ToolArgsMode
  | readonly string[]
  | ((made: ToolArgs, expected: ToolArgs) => boolean);

type Comparison = (made: ExactArgs, expected: ExactArgs) => boolean;

const isWithin: Comparison = (inner, outer) =>
  [...inner].every(([key, value]) => outer.has(key) && isSameJson(outer.get(key)!, value));

const modes: Readonly<Record<ToolArgsMode, Comparison>> = {
  exact: isSameJson,
  ignore: () => true,
  subset: isWithin,
  superset: (made, expected) => isWithin(expected, made),
};

function comparisonOf(rule: ToolArgsRule): Comparison {
  if (typeof rule === "string") return modes[rule];
  if (typeof rule === "function") {
    return (made, expected) => {
      // The promise of an asynchronous function would be truthy.
      const isMatch: unknown = rule(plainOf(made) as ToolArgs, plainOf(expected) as ToolArgs);
      return isMatch === true;
    };
  }
  return (made, expected) =>
    rule.every((path) => isSameJson(valueAt(made, path) ?? null, valueAt(expected, path) ?? null));
}

/** The comparison of a tool's arguments, by the tool's name. */
export function comparisonByTool(
  rules: ToolArgsMode | Readonly<Record<string, ToolArgsRule>>,
): (tool: string) => Comparison {
  if (typeof rules === "string") return () => modes[rules];
  const comparisons = new Map(
    Object.entries(rules).map(([tool, rule]) => [tool, comparisonOf(rule)]),
  );
  const others = comparisons.get("*") ?? isSameJson;
  return (tool) => comparisons.get(tool) ?? others;
}
