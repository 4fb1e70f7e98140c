/** Describes problems that the schema found: which key, which value, what is allowed instead. */
import { ConfigError } from "../../core/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { defined } from "../../util/defined.ts";
import { isTree, toSnake, type Tree } from "../camel-keys.ts";
import { shortKeys } from "../compat/keys/rllm-keys.ts";
import type { ConfigField } from "../fields.ts";
import { notOfType, typeFields } from "../option-types.ts";
import type { SchemaIssue } from "../schema.ts";

/** Options that there were, and what to do where a file or the folder of an older run still has one. */
const retiredOptions: ReadonlyMap<string, string> = new Map([
  [
    "local.provider",
    "The embedded engine now computes with its own kernels. Remove the option; local.precision chooses between f32, as before, and bf16.",
  ],
  [
    "local.sampling_precision",
    "The embedded engine now samples in the precision that it trains in. Remove the option; model.quantization=int8 keeps the base in 8-bit integers for both.",
  ],
]);

/** One problem, as data. */
interface ConfigIssue {
  readonly key: string;
  readonly value: unknown;
  readonly message: string;
  readonly allowed?: string;
  /** The known key that was probably intended. */
  readonly nearest?: string;
}

function lookUp(tree: Tree, path: readonly PropertyKey[]): unknown {
  let node: unknown = tree;
  for (const part of path) node = isTree(node) ? node[String(part)] : undefined;
  return node;
}

const leafName = (key: string): string => key.slice(key.lastIndexOf(".") + 1);

const initials = (name: string): string => name.replaceAll(/([a-z])[a-z0-9]*_?/gu, "$1");

/** The known key that an unknown one was probably intended to be; a short name leads to its option. */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  const short = new Map(shortKeys.map(({ from, to }) => [from, String(to)]));
  const nearest = nearestOf(key, [...known, ...typeFields().keys(), ...short.keys()]);
  return nearest === undefined ? undefined : (short.get(nearest) ?? nearest);
}

function nearestOf(key: string, known: readonly string[]): string | undefined {
  const name = toSnake(key.replace(/^rllm\./u, ""));
  if (known.includes(name)) return name;
  const section = name.slice(0, name.lastIndexOf(".") + 1);
  const leaf = leafName(name);
  const siblings = known
    .filter((other) => other.startsWith(section))
    .map((other) => other.slice(section.length));
  const sibling = siblings.find((other) => initials(other) === leaf) ?? nearestName(leaf, siblings);
  if (sibling !== undefined) return section + sibling;
  const elsewhere = known.find((other) => leafName(other) === leaf);
  if (elsewhere !== undefined) return elsewhere;
  // A name of a few letters is close to every name.
  const near = leaf.length > 3 ? nearestName(leaf, known.map(leafName)) : undefined;
  return known.find((other) => leafName(other) === near) ?? nearestName(name, known);
}

/** The type that an option has by default. */
const typeOf = (option: string, fields: readonly ConfigField[]): unknown =>
  fields.find(({ key }) => key === `${option}.type`)?.default;

/** An unknown map is reported by its leaves, so that each can be given its nearest name. */
function unknownLeaves(key: string, value: unknown): { key: string; value: unknown }[] {
  if (!isTree(value) || Object.keys(value).length === 0) return [{ key, value }];
  return Object.entries(value).flatMap(([name, child]) => unknownLeaves(`${key}.${name}`, child));
}

function unknownKey(
  key: string,
  value: unknown,
  { tree }: Given,
  fields: readonly ConfigField[],
): ConfigIssue {
  const ofOtherType = fields.find((field) => field.key === key);
  if (ofOtherType?.variant !== undefined) {
    const { of } = ofOtherType.variant;
    const type = lookUp(tree, `${of}.type`.split(".")) ?? typeOf(of, fields);
    return { key, value, message: `${notOfType(ofOtherType, type)}.` };
  }
  const retired = retiredOptions.get(toSnake(key));
  if (retired !== undefined)
    return { key, value, message: `There is no option ${key} any longer. ${retired}` };
  const known = fields.map((field) => field.key);
  const nearest = nearestKey(key, known);
  const parts = key.split(".");
  let section = parts.slice(0, -1).join(".");
  while (section !== "" && !known.some((other) => other.startsWith(`${section}.`))) {
    section = section.includes(".") ? section.slice(0, section.lastIndexOf(".")) : "";
  }
  const prefix = section === "" ? "" : `${section}.`;
  const siblings = new Set(
    known
      .filter((other) => other.startsWith(prefix))
      .map((other) => other.slice(prefix.length).split(".")[0] as string),
  );
  const allowed = [...siblings].join(", ");
  const guess = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  const where = section === "" ? "at the top level" : `in ${section}`;
  return {
    key,
    value,
    message: `Unknown option ${key}.${guess} Allowed ${where}: ${allowed}.`,
    allowed,
    ...defined({ nearest }),
  };
}

/** The option that a problem is about, and not an entry of its list. */
function fieldAt(path: string, fields: readonly ConfigField[]): ConfigField | undefined {
  return fields.find(({ key }) => path === key || path.startsWith(`${key}.`));
}

/** The words in a value: itself, its entries, or the names in `role=name`. */
function wordsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value.slice(value.lastIndexOf("=") + 1)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((one) => (typeof one === "string" ? wordsOf(one) : []));
}

/** The allowed words that were probably intended. */
function nearestWords({ choices }: ConfigField, value: unknown): readonly string[] {
  const unknown = wordsOf(value).filter((word) => !choices.includes(word));
  const near = unknown.map((word) => nearestName(word.toLowerCase(), choices));
  return [...new Set(near.filter((word) => word !== undefined))];
}

/** The key, and the one that it was written as where that is another name. */
const named = (key: string, { names }: Given): string => {
  const written = names.get(key);
  return written === undefined ? key : `${key} (given as ${written})`;
};

function wrongValue(path: string, given: Given, fields: readonly ConfigField[]): ConfigIssue {
  const field = fieldAt(path, fields);
  const key = field?.key ?? path;
  const value = lookUp(given.tree, key.split("."));
  if (field === undefined) {
    const inside = fields
      .filter((other) => other.key.startsWith(`${key}.`))
      .map((other) => leafName(other.key));
    const allowed = `a map with the keys ${inside.join(", ")}`;
    return {
      key,
      value,
      allowed,
      message: `${key} must be ${allowed}; got ${JSON.stringify(value)}.`,
    };
  }
  const { allowed } = field;
  if (value === undefined) {
    return {
      key,
      value,
      allowed,
      message: `${key} is required: it must be ${allowed}. ${field.description}`,
    };
  }
  const near = nearestWords(field, value);
  const guess = near.length === 0 ? "" : ` Did you mean ${near.join(" and ")}?`;
  return {
    key,
    value,
    allowed,
    message: `${named(key, given)} must be ${allowed}; got ${printed(value)}.${guess}`,
  };
}

function printed(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
}

/** What was checked. */
export interface Given {
  readonly tree: Tree;
  /** Our keys that were written under another name, with it. */
  readonly names: ReadonlyMap<string, string>;
}

/** One error for all problems. */
export function describeIssues(
  found: readonly SchemaIssue[],
  given: Given,
  fields: readonly ConfigField[],
): ConfigError {
  const issues = new Map<string, ConfigIssue>();
  for (const issue of found) {
    const path = issue.path.map(String).join(".");
    if (issue.code === "unrecognized_keys") {
      for (const name of issue.keys ?? []) {
        const start = path === "" ? name : `${path}.${name}`;
        for (const leaf of unknownLeaves(start, lookUp(given.tree, [...issue.path, name]))) {
          issues.set(leaf.key, unknownKey(leaf.key, leaf.value, given, fields));
        }
      }
    } else {
      const wrong = wrongValue(path, given, fields);
      issues.set(wrong.key, wrong);
    }
  }
  const list = [...issues.values()];
  const lines = list.map((issue) => issue.message);
  return new ConfigError({
    message:
      lines.length === 1
        ? (lines[0] as string)
        : `The configuration has ${lines.length} problems:\n${lines.map((line) => `- ${line}`).join("\n")}`,
    fields: { issues: list },
  });
}
