/** The schema as a flat list of keys, for docs, help and messages. */
import { defined } from "../util/defined.ts";
import { configJsonSchema } from "./schema.ts";
import { customFunction, type OptionMeta } from "./schema/option-meta.ts";

/** One key of the tree, for docs, help and messages. */
export interface ConfigField extends Pick<
  OptionMeta,
  "inherits" | "ofModel" | "byRole" | "backend"
> {
  /** Dotted path. */
  readonly key: string;
  /** The option with types that it belongs to: its `type`, or what some of its types have. */
  readonly variant?: {
    readonly of: string;
    /** The types that have it; all where it is the type itself. */
    readonly types: readonly string[];
  };
  readonly description: string;
  /** `undefined` when the key is required. */
  readonly default: unknown;
  /** Which values it takes, in words. */
  readonly allowed: string;
  /** Whether it takes `null`. */
  readonly isNullable: boolean;
  /** Whether it may change when a run is resumed. */
  readonly resume: NonNullable<OptionMeta["resume"]>;
  /** Conditions for it to have an effect. */
  readonly requires: NonNullable<OptionMeta["requires"]>;
  /** Its values that are words; those of its entries where it is a list or a map. */
  readonly choices: readonly string[];
  /** All its values where they can be listed, else some that are valid, with one that is not its default. */
  readonly examples: readonly unknown[];
}

/** The parts of a JSON Schema node that this file reads. */
interface JsonSchema extends OptionMeta {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly allowed?: string;
  /** Of an option with types: the one that it has by default. */
  readonly variants?: string;
}

function bounds(node: JsonSchema): string {
  const finite = (value: number | undefined): value is number =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const parts: string[] = [];
  if (finite(node.minimum)) parts.push(`at least ${node.minimum}`);
  if (finite(node.exclusiveMinimum)) parts.push(`above ${node.exclusiveMinimum}`);
  if (finite(node.maximum)) parts.push(`at most ${node.maximum}`);
  if (finite(node.exclusiveMaximum)) parts.push(`below ${node.exclusiveMaximum}`);
  const text = parts.join(" and ");
  return text === "" ? "" : text.startsWith("at ") ? ` of ${text}` : ` ${text}`;
}

function allowedText(node: JsonSchema): string {
  if (node.allowed !== undefined) return node.allowed;
  if (node.anyOf !== undefined) return node.anyOf.map(allowedText).join(", or ");
  if (node.enum !== undefined) return `one of ${node.enum.join(", ")}`;
  if (Array.isArray(node.type)) {
    return node.type.map((type: string) => allowedText({ ...node, type })).join(", or ");
  }
  switch (node.type) {
    case "integer":
      return `a whole number${bounds(node)}`;
    case "number":
      return `a number${bounds(node)}`;
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    default:
      return (node.minLength ?? 0) > 0 ? "a non-empty string" : "a string";
  }
}

function takesNull(node: JsonSchema): boolean {
  if (node.anyOf !== undefined) return node.anyOf.some(takesNull);
  return [node.type].flat().includes("null");
}

function choicesOf(node: JsonSchema): readonly string[] {
  const { anyOf = [], items, additionalProperties: values, properties } = node;
  const inside = [...anyOf, items, values, properties?.["type"]].filter(
    (one) => typeof one === "object",
  );
  const own = [...(node.enum ?? []), node.const].filter((one) => typeof one === "string");
  return [...new Set([...own, ...inside.flatMap(choicesOf)])];
}

/** A few numbers within the bounds. */
function numbersOf({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum }: JsonSchema) {
  const low = Math.max(minimum ?? 0, exclusiveMinimum ?? 0, 0);
  const high = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
  const step = type === "integer" ? 1 : Math.min(1, (high - low) / 4);
  return [low + step, low + 2 * step];
}

function examplesOf(node: JsonSchema): readonly unknown[] {
  if (node.exampleValues !== undefined) return node.exampleValues;
  if (node.anyOf !== undefined) return node.anyOf.flatMap(examplesOf);
  if (node.enum !== undefined) return node.enum;
  if (Array.isArray(node.type)) {
    return node.type.flatMap((type: string) => examplesOf({ ...node, type }));
  }
  switch (node.type) {
    case "boolean":
      return [true, false];
    case "integer":
    case "number":
      return numbersOf(node);
    case "array":
      return [["name"]];
    case "string":
      return node.pattern === undefined ? ["name"] : [];
    default:
      return [];
  }
}

function fieldOf(node: JsonSchema, key: string): ConfigField {
  const { inherits, ofModel, byRole, backend } = node;
  return {
    ...defined({ inherits, ofModel, byRole, backend }),
    key,
    description: node.description ?? "",
    default: node.default,
    allowed: allowedText(node),
    isNullable: takesNull(node),
    resume: node.resume ?? "fixed",
    requires: node.requires ?? [],
    choices: choicesOf(node),
    examples: examplesOf(node),
  };
}

/** The name of one of an option's types. */
export function typeName({ properties = {} }: Pick<JsonSchema, "properties">): string {
  const type = properties["type"]?.const;
  return typeof type === "string" ? type : customFunction;
}

const list = new Intl.ListFormat("en-GB");

/** "ppo, cispo and custom functions" */
export const typesInWords = (types: readonly string[]): string =>
  list.format(types.map((type) => (type === customFunction ? "custom functions" : type)));

/** The type of an option, and what its types have: each once, with the types that have it. */
function variantFields(node: JsonSchema, path: string): readonly ConfigField[] {
  const { anyOf: shapes = [], variants: usual, description = "" } = node;
  const types = shapes.map(typeName);
  const key = `${path}.type`;
  const named = types.filter((type) => type !== customFunction);
  const { default: _, anyOf: __, ...about } = node;
  const type = fieldOf({ type: "string", enum: named, ...about, default: usual, description }, key);
  const owners = new Map<string, string[]>();
  for (const [i, { properties = {} }] of shapes.entries()) {
    for (const name of Object.keys(properties)) {
      if (name !== "type") owners.set(name, [...(owners.get(name) ?? []), types[i] as string]);
    }
  }
  const members = [...owners].map(([name, having]): ConfigField => {
    const shape = shapes.find(({ properties = {} }) => name in properties);
    const field = fieldOf(
      { ...defined({ resume: node.resume }), ...shape?.properties?.[name] },
      `${path}.${name}`,
    );
    const variant = { of: path, types: having };
    if (having.length === types.length) return { ...field, variant };
    return {
      ...field,
      variant,
      description: `For ${typesInWords(having)}: ${field.description}`,
      requires: [{ option: key, is: having }, ...field.requires],
    };
  });
  return [{ ...type, variant: { of: path, types } }, ...members];
}

function collect(node: JsonSchema, path: string): readonly ConfigField[] {
  if (node.variants !== undefined) return variantFields(node, path);
  if (node.properties === undefined) return [fieldOf(node, path)];
  return Object.entries(node.properties).flatMap(([key, child]) =>
    collect(child, path === "" ? key : `${path}.${key}`),
  );
}

/** Every key of a schema, in its order. */
export const fieldsOf = (schema: object): readonly ConfigField[] => collect(schema, "");

let fields: readonly ConfigField[] | undefined;

/** Every key of the tree, in the order of the schema. */
export function configFields(): readonly ConfigField[] {
  fields ??= fieldsOf(configJsonSchema());
  return fields;
}
