/** What the words and flags of `sweep` name: a configuration, what is searched, and options of every run. */
import { readFileSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { z } from "zod";
import { parseOverride } from "../../config/load/overrides.ts";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import type { SweepParameter, SweepSearch } from "../../runs/sweeps/sweep-plan.ts";
import { type SweptMethod, sweptMethods } from "./swept-methods.ts";
import { describeYamlError, parseYaml } from "../../util/yaml-text.ts";

const seedList = z.union([z.int().min(1), z.array(z.int().min(0)).min(1)]);
const range = z.strictObject({
  min: z.number(),
  max: z.number(),
  scale: z.enum(["linear", "log"]).optional(),
  integer: z.boolean().optional(),
});

const sweepFile = z.strictObject({
  /** Relative to the file of the sweep. */
  config: z.string().min(1),
  name: z.string().min(1).optional(),
  parameters: z.record(z.string(), z.union([z.array(z.unknown()).min(1), range])),
  search: z.enum(["grid", "random"]).optional(),
  search_seed: z.int().min(0).optional(),
  runs: z.int().min(1).optional(),
  seeds: seedList.optional(),
  minutes: z.number().gt(0).optional(),
  metric: z.string().min(1).optional(),
  method: z.enum(sweptMethods).optional(),
  overrides: z.array(z.string()).optional(),
});

export interface SweepArguments extends SweepSearch {
  readonly configFile: string;
  readonly name: string | null;
  readonly overrides: readonly string[];
  readonly seeds: number | readonly number[];
  readonly minutes: number | null;
  readonly metric: string | null;
  readonly method: SweptMethod;
}

/** Parts between commas that are not in brackets or quotes. */
export function splitValues(text: string): readonly string[] {
  const parts = [""];
  let depth = 0;
  let quote = "";
  for (const char of text) {
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === "[" || char === "{") depth++;
    else if (char === "]" || char === "}") depth--;
    else if (char === "," && depth <= 0) {
      parts.push("");
      continue;
    }
    parts[parts.length - 1] += char;
  }
  return parts;
}

/** A file of options, or that of a sweep, which has `parameters`. */
function readSweepFile(path: string): z.output<typeof sweepFile> | null {
  const text = namingFile({ hint: "Name a YAML file: that of a run or that of a sweep." }, () =>
    readFileSync(path, "utf8"),
  );
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (cause) {
    throw new ConfigError({
      message: `${path} is not valid YAML: ${describeYamlError(cause, text).problem}.`,
      cause,
      fields: { path },
    });
  }
  if (typeof value !== "object" || value === null || !("parameters" in value)) return null;
  const { success, data, error } = sweepFile.safeParse(value);
  if (success) return data;
  const problems = error.issues.map(
    ({ path: at, message }) => `${at.join(".") || "it"}: ${message}`,
  );
  throw new ConfigError({
    message: `${path} is not the file of a sweep: ${problems.join("; ")}.`,
    hint: "It has config and parameters, and may have name, search, search_seed, runs, seeds, minutes, metric, method and overrides: see docs/sweeps.md.",
    fields: { path, problems },
  });
}

/** `key=a,b,c` is searched; every other override applies to all runs. */
export function readSweepArguments(file: string, words: readonly string[]): SweepArguments {
  const given = readSweepFile(file);
  const parameters: Record<string, SweepParameter> = { ...given?.parameters };
  const overrides = [...(given?.overrides ?? [])];
  for (const word of words) {
    const at = word.indexOf("=");
    const key = word.slice(0, at).replace(/^\+{1,2}/u, "");
    const values = at < 1 ? [] : splitValues(word.slice(at + 1));
    if (values.length < 2) overrides.push(word);
    else parameters[key] = values.map((value) => parseOverride(`${key}=${value}`).value);
    if (values.length < 2 && at > 0) delete parameters[key];
  }
  return {
    configFile: given === null ? file : resolve(dirname(file), given.config),
    name: given?.name ?? (given === null ? null : basename(file, extname(file))),
    parameters,
    overrides,
    search: given?.search ?? "grid",
    searchSeed: given?.search_seed ?? 0,
    runs: given?.runs ?? null,
    seeds: given?.seeds ?? 1,
    minutes: given?.minutes ?? null,
    metric: given?.metric ?? null,
    method: given?.method ?? "train",
  };
}
