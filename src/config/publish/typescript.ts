/** The options as a TypeScript interface, for editors: generated from the schema, never edited. */
import { toCamel, type Tree } from "../camel-keys.ts";
import { type ConfigField, configFields, typeName } from "../fields.ts";
import { customFunction } from "../schema/option-meta.ts";
import { configJsonSchema } from "../schema.ts";

/** The file that {@link configTypes} is written to. */
export const configTypesFile = "src/config/train-config.ts";

const header = `/**
 * Every option, as code reads it and as editors show it. Generated from \`schema/\` by
 * \`npm run schema\`; do not edit. Files and \`key=value\` lists have the same names in snake_case.
 */

`;

const footer = `
/** One of several types, each with separate options, or the type alone for their defaults. */
type OrType<T extends { readonly type: string }> = T | T["type"];

/** Of {@link OrType} the long form. */
type WithType<T> = [Extract<T, { readonly type: string }>] extends [never]
  ? T
  : Extract<T, { readonly type: string }>;

/** The same options, none of them optional. */
type Complete<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]-?: Complete<WithType<T[K]>> }
    : T;

/** The advantage estimator of one role. */
export type EstimatorOfRole = TrainConfig["algorithm"]["estimator"] & { readonly role: string };

/** The policy loss of one role. */
export type LossOfRole = TrainConfig["algorithm"]["loss"] & { readonly role: string };

/** A source of tasks: an entry of \`dataset.sources\`. */
export interface DataSource {
  /** Of the source, and \`metadata.data_source\` of its tasks. */
  readonly name: string;
  /** Training dataset, as in \`dataset.train\`; null where \`env\` has the tasks. @default null */
  readonly train?: string | null;
  /** Validation dataset, as in \`dataset.val\`. @default null, no validation on this source */
  readonly val?: string | null;
  /** Share of the tasks of each step, relative to the other sources'. Above 0. @default 1 */
  readonly weight?: number;
  /** Most training tasks, and most validation tasks. @default null, all */
  readonly limit?: number | null;
  /** Scores its tasks, as in \`evaluator\`. @default null, the evaluator of the run or the environment */
  readonly evaluator?: string | null;
  /** Environment of its tasks, as in \`env\`. @default null */
  readonly env?: string | null;
  /** Split of \`env\` whose tasks are trained on, where \`train\` is null. @default "train" */
  readonly split?: string;
}

/** The options of a run, checked, every default filled in. */
export interface TrainConfig extends Complete<Sections> {
  /** What is learned from a step's rollouts, and how. */
  readonly algorithm: Complete<AlgorithmValues & AlgorithmNames>;
}

/** How tokens are sampled in rollouts; overrides what the agent sends. */
export type RolloutSampling = TrainConfig["rollout"]["train"];

/** Corrections for rollouts that were not sampled by exactly the weights that are trained. */
export type RolloutCorrectionOptions = TrainConfig["algorithm"]["rolloutCorrection"];
`;

const fields: ReadonlyMap<string, ConfigField> = new Map(
  configFields().map((field) => [field.key, field]),
);

const nameOfFunction = "^[^#]+#[^#]+$";
const typeOfFunction = "`${string}#${string}`";

/** A JSON Schema node as a TypeScript type. */
function typeOf(node: Tree): string {
  if (typeof node["tsType"] === "string") return node["tsType"];
  if (Array.isArray(node["anyOf"])) {
    const types = [...new Set((node["anyOf"] as Tree[]).map(typeOf))];
    // An unset option has inherited the value of another one, or got that of the model, by then.
    const isFilled = node["inherits"] !== undefined || node["ofModel"] !== undefined;
    return types.filter((type) => type !== "null" || !isFilled).join(" | ");
  }
  if (Array.isArray(node["enum"])) return node["enum"].map((v) => JSON.stringify(v)).join(" | ");
  if ("const" in node) return JSON.stringify(node["const"]);
  if (Array.isArray(node["type"])) {
    return (node["type"] as string[]).map((type) => typeOf({ ...node, type })).join(" | ");
  }
  switch (node["type"]) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "null":
      return node["type"];
    case "string":
      return node["pattern"] === nameOfFunction ? typeOfFunction : "string";
    case "array": {
      const items = typeOf((node["items"] ?? {}) as Tree);
      return `readonly ${items.includes(" | ") ? `(${items})` : items}[]`;
    }
    default:
      return "unknown";
  }
}

/** `* `-prefixed lines of at most 96 characters. */
function comment(text: string, indent: string): string {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && indent.length + line.length + word.length + 4 > 100) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  const [only] = lines;
  if (lines.length === 1) return `${indent}/** ${only} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`).join("\n")}\n${indent} */\n`;
}

/** @param node its own description does not say which types have it. */
function docOf({ description, allowed, default: value }: ConfigField, node: Tree = {}): string {
  const own = node["description"];
  const lines = [typeof own === "string" ? own : description, `Allowed: ${allowed}.`];
  if (value !== undefined) lines.push(`@default ${JSON.stringify(value)}`);
  return lines.join("\n");
}

function membersOf(properties: Tree, path: string, indent: string): string {
  return Object.entries(properties)
    .map(([key, child]) => {
      const node = child as Tree;
      const dotted = `${path}${key}`;
      const name = `${indent}readonly ${toCamel(key)}?: `;
      if (node["variants"] !== undefined) {
        const type = fields.get(`${dotted}.type`) as ConfigField;
        return `${comment(docOf(type), indent)}${name}${variantsOf(node, dotted, indent)};\n`;
      }
      const field = fields.get(dotted);
      if (field !== undefined)
        return `${comment(docOf(field, node), indent)}${name}${typeOf(node)};\n`;
      const inner = membersOf(node["properties"] as Tree, `${dotted}.`, `${indent}  `);
      const { description } = node;
      const head = typeof description === "string" ? comment(description, indent) : "";
      return `${head}${name}{\n${inner}${indent}};\n`;
    })
    .join("");
}

/** An option with types: a type for each, or for those that have the same options. */
function variantsOf(node: Tree, path: string, indent: string): string {
  const byShape = new Map<string, string[]>();
  for (const shape of node["anyOf"] as { readonly properties: Tree }[]) {
    const { type: _, ...own } = shape.properties;
    const members = membersOf(own, `${path}.`, `${indent}      `);
    const name = typeName(shape as Parameters<typeof typeName>[0]);
    const text = name === customFunction ? typeOfFunction : JSON.stringify(name);
    byShape.set(members, [...(byShape.get(members) ?? []), text]);
  }
  const types = [...byShape].map(
    ([members, names]) =>
      `${indent}  | {\n${indent}      readonly type: ${names.join(" | ")};\n${members}${indent}    }\n`,
  );
  return `OrType<\n${types.join("")}${indent}>`;
}

/** Options of `algorithm` that take a function in code; `train-options.ts` has their types there. */
const takesFunctions = new Set(["estimator", "estimator_by_role", "loss", "loss_by_role"]);

function interfaceOf(name: string, doc: string, properties: Tree, path = ""): string {
  return `/** ${doc} */\nexport interface ${name} {\n${membersOf(properties, path, "  ")}}\n`;
}

/**
 * The text of the generated file. Interfaces rather than types made of other types, because not every
 * editor shows the documentation of the latter.
 */
export function configTypes(): string {
  const { algorithm, ...sections } = configJsonSchema()["properties"] as Record<string, Tree>;
  const entries = Object.entries((algorithm as Tree)["properties"] as Tree);
  const pick = (isFunction: boolean): Tree =>
    Object.fromEntries(entries.filter(([key]) => takesFunctions.has(key) === isFunction));
  return [
    header,
    interfaceOf("Sections", "Options of a run, all sections but `algorithm`.", sections),
    interfaceOf(
      "AlgorithmValues",
      "Options of `algorithm` that are values.",
      pick(false),
      "algorithm.",
    ),
    interfaceOf(
      "AlgorithmNames",
      "Options of `algorithm` that name functions.",
      pick(true),
      "algorithm.",
    ),
    footer.trimStart(),
  ].join("\n");
}
