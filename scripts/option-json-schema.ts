/**
 * The options as JSON Schema for editors: every section is optional, since files are composed, any
 * value may be a reference, and keys of rLLM and verl are accepted.
 */
import { type Tree, isTree } from "../src/config/camel-keys.ts";
import { compatKeys } from "../src/config/compat/compat-keys.ts";
import { configJsonSchema } from "../src/config/schema.ts";

/** The file that the schema is written to. */
export const schemaFile = "schemas/train-config.schema.json";

const reference = {
  type: "string",
  pattern: "\\$\\{.+\\}",
  description: "A reference to another option or an environment variable, ${...}.",
};

/** Keywords that describe the option and not its values. */
const about = new Set(["description", "default", "title"]);

/** Keywords that only this package reads. */
const internal = new Set([
  "allowed",
  "tsType",
  "resume",
  "requires",
  "inherits",
  "byRole",
  "backend",
  "exampleValues",
  "ofModel",
  "variants",
]);

interface Shape extends Tree {
  readonly properties: Tree;
}

const isShape = (node: unknown): node is Shape =>
  isTree(node) && isTree(node["properties"]) && Object.hasOwn(node["properties"], "type");

/** Types in short, and in full; the type itself may be in another file. */
function typesOf(shapes: readonly Shape[]): readonly unknown[] {
  const full = shapes.map((shape) => ({ ...plainValues(shape), required: [] }));
  return [...shapes.map(({ properties }) => plain(properties["type"])), ...full];
}

/** A schema without what only this package reads. */
function plain(node: unknown): unknown {
  if (!isTree(node)) return Array.isArray(node) ? node.map(plain) : node;
  const shapes = node["anyOf"];
  if (Array.isArray(shapes) && shapes.length > 0 && shapes.every(isShape))
    return { ...plainValues(node), anyOf: typesOf(shapes) };
  return plainValues(node);
}

function plainValues(node: Tree): Tree {
  const own = Object.entries(node).filter(([key]) => !internal.has(key));
  const each = (value: unknown): unknown =>
    isTree(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
      : value;
  return Object.fromEntries(
    own.map(([key, value]) => [key, key === "properties" ? each(value) : plain(value)]),
  );
}

function withReference(node: Tree): Tree {
  const rest: Tree = {};
  const values: Tree = {};
  for (const [key, value] of Object.entries(plain(node) as Tree)) {
    if (about.has(key)) rest[key] = value;
    else values[key] = value;
  }
  const choices = Array.isArray(values["anyOf"]) ? (values["anyOf"] as unknown[]) : [values];
  return { ...rest, anyOf: [...choices, reference] };
}

function loosened(node: Tree): Tree {
  const { properties, required: _, ...rest } = node;
  if (!isTree(properties)) return withReference(node);
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, child]) => [key, loosened(child as Tree)]),
    ),
  };
}

/** Top-level names of keys of other trainers. */
function compatSections(own: Tree): Tree {
  const names = new Set(compatKeys.map(({ from }) => from.split(".")[0] as string));
  const others = ["rllm", "actor_rollout_ref", ...names].filter(
    (name) => !Object.hasOwn(own, name) && !name.includes("*"),
  );
  const open = { description: "A key of rLLM or verl; see agent-trainer train --explain KEY." };
  return Object.fromEntries(others.map((name) => [name, open]));
}

export function publishedSchema(): Tree {
  const { $schema, ...schema } = loosened(configJsonSchema());
  const own = schema["properties"] as Tree;
  // A section of ours may contain keys of other trainers, which --dry-run checks.
  const sections = Object.fromEntries(
    Object.entries(own).map(([key, node]) => [key, isTree(node) ? openSection(key, node) : node]),
  );
  return {
    $schema: $schema ?? "https://json-schema.org/draft/2020-12/schema",
    title: "agent-trainer train",
    ...schema,
    properties: {
      defaults: {
        type: "array",
        description: "Files that this one extends and overrides; see docs/configuration.md.",
      },
      ...sections,
      ...compatSections(own),
    },
  };
}

/** Accepts the names that other trainers and earlier versions have in this section. */
function openSection(section: string, node: Tree): Tree {
  const prefix = `${section}.`;
  const names = compatKeys.filter(({ from }) => from.startsWith(prefix));
  if (names.length === 0) return node;
  const { properties, anyOf } = node;
  if (Array.isArray(anyOf)) {
    return { ...node, anyOf: anyOf.map((one: Tree) => openSection(section, { ...one })) };
  }
  if (!isTree(properties)) return node;
  const open = names.map(({ from }) => [from.slice(prefix.length).split(".")[0] as string, {}]);
  const own = Object.entries(properties).map(([key, child]) => [
    key,
    isTree(child) ? openSection(prefix + key, child) : child,
  ]);
  return { ...node, properties: { ...Object.fromEntries(open), ...Object.fromEntries(own) } };
}
