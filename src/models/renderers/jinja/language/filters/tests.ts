/** What `value is ...` says. */
import { compare, contains, isEqual } from "../compare.ts";
import { calculate } from "../operators.ts";
import { textPredicates } from "../methods/text-predicates.ts";
import { Str } from "../str.ts";
import {
  Args,
  Callable,
  Dict,
  none,
  Range,
  tryIterate,
  Tuple,
  Undefined,
  type Value,
} from "../values.ts";
import { str } from "../write.ts";

type Test = (value: Value, args: Args) => boolean;

const other = (args: Args, name: string): Value => args.take(name, ["other"], 1)[0]!;
const rest = (value: Value, divisor: Value): Value => calculate("%", value, divisor);
const isCased =
  (name: "islower" | "isupper"): Test =>
  (value) =>
    textPredicates[name]!(str(value), new Args([])) === true;

const equal: Test = (value, args) => isEqual(value, other(args, "eq"));
const unequal: Test = (value, args) => !isEqual(value, other(args, "ne"));
const ordered =
  (operator: "<" | "<=" | ">" | ">=", test: (order: number) => boolean): Test =>
  (value, args) =>
    test(compare(value, other(args, operator), operator));
const greater = ordered(">", (order) => order > 0);
const atLeast = ordered(">=", (order) => order >= 0);
const less = ordered("<", (order) => order < 0);
const atMost = ordered("<=", (order) => order <= 0);

export const tests: Readonly<Record<string, Test>> = {
  odd: (value) => isEqual(rest(value, 2n), 1n),
  even: (value) => isEqual(rest(value, 2n), 0n),
  divisibleby: (value, args) => isEqual(rest(value, other(args, "divisibleby")), 0n),
  defined: (value) => !(value instanceof Undefined),
  undefined: (value) => value instanceof Undefined,
  none: (value) => value === none,
  boolean: (value) => typeof value === "boolean",
  true: (value) => value === true,
  false: (value) => value === false,
  integer: (value) => typeof value === "bigint",
  float: (value) => typeof value === "number",
  number: (value) => ["boolean", "bigint", "number"].includes(typeof value),
  string: (value) => value instanceof Str,
  mapping: (value) => value instanceof Dict,
  sequence: (value) =>
    value instanceof Str ||
    value instanceof Dict ||
    value instanceof Tuple ||
    value instanceof Range ||
    value instanceof Undefined ||
    Array.isArray(value),
  iterable: (value) => tryIterate(value) !== null,
  callable: (value) => value instanceof Callable || value instanceof Undefined,
  lower: isCased("islower"),
  upper: isCased("isupper"),
  escaped: () => false,
  sameas(value, args) {
    const of = other(args, "sameas");
    return (
      typeof value === typeof of && (value === of || (value instanceof Str && isEqual(value, of)))
    );
  },
  in: (value, args) => contains(other(args, "in"), value),
  "==": equal,
  eq: equal,
  equalto: equal,
  "!=": unequal,
  ne: unequal,
  ">": greater,
  gt: greater,
  greaterthan: greater,
  ">=": atLeast,
  ge: atLeast,
  "<": less,
  lt: less,
  lessthan: less,
  "<=": atMost,
  le: atMost,
};
