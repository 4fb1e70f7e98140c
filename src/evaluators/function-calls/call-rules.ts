/**
 * When a function call is one of those that are accepted: the rules of the AST evaluation of the Berkeley
 * Function-Calling Leaderboard, for Python-like JSON types.
 */
import { type ExactJson, isSameJson, JsonNumber } from "../../util/exact-json.ts";
import { isJsonObject } from "../../util/json-object.ts";

type Fields = ReadonlyMap<string, ExactJson>;

/** Accepted values by parameter; `""` among them makes a parameter optional. */
export type AcceptedArguments = ReadonlyMap<string, readonly ExactJson[]>;

/** What a function takes, from its JSON Schema. */
export interface FunctionShape {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

/** Without spaces and the signs `,./-_*^`, in lower case, with double quotes. */
const plainText = (text: string): string =>
  text
    .replaceAll(/[ ,./\-_*^]/gu, "")
    .toLowerCase()
    .replaceAll("'", '"');

const isObject = (value: ExactJson): value is Fields => value instanceof Map;

const matches = (value: ExactJson, expected: ExactJson): boolean => {
  if (typeof value === "string" && typeof expected === "string") {
    return plainText(value) === plainText(expected);
  }
  if (Array.isArray(value) && Array.isArray(expected)) {
    const [items, others] = [value as readonly ExactJson[], expected as readonly ExactJson[]];
    return (
      items.length === others.length && items.every((item, i) => isAccepted(item, [others[i]!]))
    );
  }
  return !isObject(value) && isSameJson(value, expected);
};

/** An accepted object has a list of accepted values for each key, as the arguments do. */
function matchesObject(value: Fields, expected: Fields): boolean {
  const listed = (key: string): readonly ExactJson[] => {
    const found = expected.get(key);
    return Array.isArray(found) ? (found as readonly ExactJson[]) : [];
  };
  return (
    [...value].every(([key, one]) => isAccepted(one, listed(key))) &&
    [...expected.keys()].every((key) => value.has(key) || listed(key).includes(""))
  );
}

const isAccepted = (value: ExactJson, accepted: readonly ExactJson[]): boolean =>
  accepted.some((one) =>
    isObject(value) && isObject(one) ? matchesObject(value, one) : matches(value, one),
  );

const isNumber = (value: ExactJson): boolean => value instanceof JsonNumber;

const typeChecks: Readonly<Record<string, (value: ExactJson) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: (value) => value instanceof JsonNumber && Number.isInteger(value.value),
  float: isNumber,
  number: isNumber,
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  tuple: Array.isArray,
  dict: isObject,
  object: isObject,
};

/** A type that is not known fits; so does the type of an accepted value, such as a variable's name. */
function hasType(value: ExactJson, property: unknown, accepted: readonly ExactJson[]): boolean {
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
  const missing = (shape?.required ?? []).find((name) => !values.has(name));
  if (missing !== undefined) return `the required parameter "${missing}" is missing`;
  for (const [name, value] of values) {
    const isKnown = shape === null || Object.hasOwn(shape.properties, name);
    const wanted = accepted.get(name);
    if (!isKnown || wanted === undefined) return `the parameter "${name}" is unexpected`;
    if (!hasType(value, shape?.properties[name], wanted)) {
      return `the parameter "${name}" has the wrong type`;
    }
    if (!isAccepted(value, wanted)) return `the value of "${name}" is not accepted`;
  }
  const absent = [...accepted].find(([name, wanted]) => !values.has(name) && !wanted.includes(""));
  return absent === undefined ? null : `the parameter "${absent[0]}" is missing`;
}
