/** When the arguments of two tool calls match. */
import { sameJson, valueAt } from "../json/read-json.ts";

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

type Comparison = (made: ToolArgs, expected: ToolArgs) => boolean;

const isWithin: Comparison = (inner, outer) =>
  Object.entries(inner).every(
    ([key, value]) => Object.hasOwn(outer, key) && sameJson(outer[key], value),
  );

const modes: Readonly<Record<ToolArgsMode, Comparison>> = {
  exact: sameJson,
  ignore: () => true,
  subset: isWithin,
  superset: (made, expected) => isWithin(expected, made),
};

function comparisonOf(rule: ToolArgsRule): Comparison {
  if (typeof rule === "string") return modes[rule];
  if (typeof rule === "function") {
    return (made, expected) => {
      // The promise of an asynchronous function would be truthy.
      const isMatch: unknown = rule(made, expected);
      return isMatch === true;
    };
  }
  return (made, expected) =>
    rule.every((path) => sameJson(valueAt(made, path) ?? null, valueAt(expected, path) ?? null));
}

/** The comparison of a tool's arguments, by the tool's name. */
export function comparisonByTool(
  rules: ToolArgsMode | Readonly<Record<string, ToolArgsRule>>,
): (tool: string) => Comparison {
  if (typeof rules === "string") return () => modes[rules];
  const comparisons = new Map(
    Object.entries(rules).map(([tool, rule]) => [tool, comparisonOf(rule)]),
  );
  const others = comparisons.get("*") ?? sameJson;
  return (tool) => comparisons.get(tool) ?? others;
}
