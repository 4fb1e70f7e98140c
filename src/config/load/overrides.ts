/**
 * Overrides of single options. As strings they follow Hydra: `key=value`, `+key=value` and `++key=value`
 * set a value, `~key` resets an option to its default; values are YAML (`[a,b]`, `{a:1}`, `null`).
 * As data they are a map whose keys may be dotted, nested or both.
 */
import { ConfigError } from "../../core/errors.ts";
import { isTree, type Tree } from "../camel-keys.ts";
import { checkKeyParts, checkTree } from "./check-tree.ts";
import { deleteAt, setAt } from "../tree.ts";
import { describeYamlError, parseYaml, yamlMarks } from "../../util/yaml-text.ts";

/** Overrides in any of their forms. */
export type Overrides = readonly string[] | Readonly<Record<string, unknown>>;

// Hydra accepts {a:1} where YAML needs {a: 1}; quoted strings are not changed.
const flowKey = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|([{,]\s*[\w.-]+:)(?=[^\s])/gu;

function refuse(override: string, what: string, cause?: unknown): never {
  throw new ConfigError({
    message: `The override ${JSON.stringify(override)} has a value that ${what}.`,
    hint: "Quote strings that contain special characters: key='\"a: b\"'.",
    cause,
    fields: { override },
  });
}

/** YAML of one value, in which marks like `#`, `&` and `*` that begin a word are text. */
function parseValue(text: string, override: string): unknown {
  const [start = ""] = text.trimStart();
  const isFlow = start === "[" || start === "{";
  const yaml = isFlow
    ? text.replaceAll(flowKey, (match, key?: string) => (key === undefined ? match : `${key} `))
    : text;
  const marks = yamlMarks(yaml);
  if (marks.size > 0 && !isFlow && !["'", '"', "|", ">"].includes(start)) return text.trim();
  if (marks.has("comment")) refuse(override, "has a comment, which would be lost");
  if (marks.has("tag")) refuse(override, "has a tag of YAML, which would be lost");
  let value: unknown;
  try {
    value = parseYaml(yaml);
  } catch (error) {
    refuse(override, `is not valid YAML: ${describeYamlError(error, yaml).problem}`, error);
  }
  checkTree(value, `The override ${JSON.stringify(override)}`);
  return value;
}

const keyPattern = /^[A-Za-z_][\w-]*(?:[./][A-Za-z_][\w-]*)*$/u;

function checkKey(key: string, override: string): string {
  checkKeyParts(key, `The override ${JSON.stringify(override)}`);
  if (keyPattern.test(key)) return key;
  throw new ConfigError({
    message: `The override ${JSON.stringify(override)} has no option name before "=".`,
    hint: "Write key=value, for example data.train_batch_size=8.",
    fields: { override },
  });
}

/** A change to the tree of options. */
export interface Override {
  readonly key: string;
  /** Reset to the default. */
  readonly remove: boolean;
  readonly value: unknown;
}

/** Parses one override written as a string. */
export function parseOverride(text: string): Override {
  if (text.startsWith("~")) {
    const key = text.slice(1);
    if (key.includes("=")) {
      throw new ConfigError({
        message: `The override ${JSON.stringify(text)} both removes and sets an option.`,
        hint: "Write ~key alone to reset it to its default.",
        fields: { override: text },
      });
    }
    return { key: checkKey(key, text), remove: true, value: undefined };
  }
  const at = text.indexOf("=");
  if (at === -1) {
    throw new ConfigError({
      message: `The override ${JSON.stringify(text)} is not of the form key=value.`,
      hint: "Write key=value to set an option, or ~key to reset it to its default.",
      fields: { override: text },
    });
  }
  const key = checkKey(text.slice(0, at).replace(/^\+{1,2}/u, ""), text);
  return { key, remove: false, value: parseValue(text.slice(at + 1), text) };
}

/** Overrides in any form, as a list in the order in which they apply. */
export function readOverrides(overrides: Overrides): Override[] {
  if (isTextList(overrides)) return overrides.map(parseOverride);
  checkTree(overrides, "The map of options");
  return Object.entries(overrides).map(([key, value]) => ({ key, remove: false, value }));
}

function isTextList(overrides: Overrides): overrides is readonly string[] {
  return Array.isArray(overrides);
}

/** Changes the tree in place. */
export function applyOverride(tree: Tree, override: Override): void {
  if (override.remove) deleteAt(tree, override.key);
  else setAt(tree, override.key, expanded(override.value));
}

/** Dotted keys inside of a map become nested ones. */
function expanded(value: unknown): unknown {
  if (!isTree(value)) return value;
  const out: Tree = {};
  for (const [key, child] of Object.entries(value)) setAt(out, key, expanded(child));
  return out;
}
