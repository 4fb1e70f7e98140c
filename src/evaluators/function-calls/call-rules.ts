/**
 * When a function call is one of those that are accepted: the rules of the AST evaluation of the Berkeley
 * Function-Calling Leaderboard, for Python-like JSON types.
 */
import { isJsonObject } from "../../util/json-object.ts";

/** Accepted values by parameter; `""` among them makes a parameter optional. */
export type AcceptedArguments = Readonly<Record<string, readonly unknown[]>>;

/** What a function takes, from its JSON Schema. */
export interface FunctionShape {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Without spaces and the signs `,./-_*^`, in lower case, with double quotes. */
const plainText = (text: string): string =>
  text
    .replaceAll(/[ ,./\-_*^]/gu, "")
    .toLowerCase()
    .replaceAll("'", '"');

const matches = (value: unknown, expected: unknown): boolean => {
  if (typeof value === "string" && typeof expected === "string") {
    return plainText(value) === plainText(expected);
  }
  if (Array.isArray(value) && Array.isArray(expected)) {
    return (
      value.length === expected.length &&
      value.every((item: unknown, i) =>
        isJsonObject(item) && isJsonObject(expected[i])
          ? matchesObject(item, expected[i])
          : matches(item, expected[i]),
      )
    );
  }
  return value === expected;
};

/** An accepted object has a list of accepted values for each key, as the arguments do. */
function matchesObject(value: Fields, expected: Fields): boolean {
  const listed = (key: string): readonly unknown[] => {
    const found = Object.hasOwn(expected, key) ? expected[key] : undefined;
    return Array.isArray(found) ? found : [];
  };
  return (
    Object.entries(value).every(([key, one]) => isAccepted(one, listed(key))) &&
    Object.keys(expected).every((key) => Object.hasOwn(value, key) || listed(key).includes(""))
  );
}

const isAccepted = (value: unknown, accepted: readonly unknown[]): boolean =>
  accepted.some((one) =>
    isJsonObject(value) && isJsonObject(one) ? matchesObject(value, one) : matches(value, one),
  );

const typeChecks: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: Number.isInteger,
  float: (value) => typeof value === "number",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  tuple: Array.isArray,
  dict: isJsonObject,
  object: isJsonObject,
};

/** A type that is not known fits; so does the type of an accepted value, such as a variable's name. */
function hasType(value: unknown, property: unknown, accepted: readonly unknown[]): boolean {
  const type: unknown = isJsonObject(property) ? property.type : undefined;
  const check =
    typeof type === "string" && Object.hasOwn(typeChecks, type) ? typeChecks[type] : undefined;
  if (check === undefined || check(value)) return true;
  const sample = accepted.find((one) => one !== "");
  return sample !== undefined && typeof sample === typeof value && typeof value === "string";
}

/** What is wrong with the arguments of a call; null when they are accepted. */
export function argumentProblem(
  values: Fields,
  accepted: AcceptedArguments,
  shape: FunctionShape | null,
): string | null {
  const missing = (shape?.required ?? []).find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) return `the required parameter "${missing}" is missing`;
  for (const [name, value] of Object.entries(values)) {
    const isKnown = shape === null || Object.hasOwn(shape.properties, name);
    if (!isKnown || !Object.hasOwn(accepted, name)) return `the parameter "${name}" is unexpected`;
    if (!hasType(value, shape?.properties[name], accepted[name]!)) {
      return `the parameter "${name}" has the wrong type`;
    }
    if (!isAccepted(value, accepted[name]!)) return `the value of "${name}" is not accepted`;
  }
  const absent = Object.keys(accepted).find(
    (name) => !Object.hasOwn(values, name) && !accepted[name]!.includes(""),
  );
  return absent === undefined ? null : `the parameter "${absent}" is missing`;
}
