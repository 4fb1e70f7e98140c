/** The options as a TypeScript interface, for editors: generated from the schema, never edited. */
import { toCamel, type Tree } from "../src/config/camel-keys.ts";
import { type ConfigField, configFields, typeName } from "../src/config/fields.ts";
import { customFunction } from "../src/config/schema/option-meta.ts";
import { configJsonSchema } from "../src/config/schema.ts";

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

/** The options of a run, checked, every default filled in. */
export interface TrainConfig extends Complete<Sections> {
  /** What is learned from a step's rollouts, and how. */
  readonly algorithm: Complete<AlgorithmValues & AlgorithmNames>;
}

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

/** `* `-prefixed lines of at most 120 characters. */
function comment(text: string, indent: string): string {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && indent.length + line.length + word.length + 4 > 120) {
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
  const lines = [typeof own === "string" ? own : description];
  // The type of these says it.
  if (!/^(?:true or false|one of [^ ]+(?:, [^ ]+)*)$/u.test(allowed))
    lines.push(`Allowed: ${allowed}.`);
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

/** The entries of `dataset.sources`, in the form that names them by a field. */
function dataSource(sources: Tree): string {
  const list = (sources["anyOf"] as Tree[]).find(({ type }) => type === "array") as Tree;
  const { properties, required } = list["items"] as Tree;
  const members = Object.entries(properties as Record<string, Tree>).map(([key, node]) => {
    const isRequired = (required as string[]).includes(key);
    const value = isRequired ? "" : `\n@default ${JSON.stringify(node["default"])}`;
    const doc = comment(`${String(node["description"])}${value}`, "  ");
    return `${doc}  readonly ${key}${isRequired ? "" : "?"}: ${typeOf(node)};\n`;
  });
  const doc = "/** A source of tasks: an entry of `dataset.sources`. */";
  return `${doc}\nexport interface DataSource {\n${members.join("")}}\n`;
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
    dataSource(((sections["dataset"] as Tree)["properties"] as Record<string, Tree>)["sources"]!),
    footer.trimStart(),
  ].join("\n");
}
