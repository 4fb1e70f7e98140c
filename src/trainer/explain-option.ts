/**
 * Describes one option: meaning, values, other names, and which backends support it. Support is found
 * by running the same rules that check a run, value by value.
 */
import { capabilityMatrix } from "../core/capabilities.ts";
import { ConfigError } from "../core/errors.ts";
import { capabilityRules } from "./check-capabilities.ts";
import { type ConfigField, configFields } from "../config/fields.ts";
import { typeFields } from "../config/option-types.ts";
import type { Requirement } from "../config/schema/option-meta.ts";
import { compatKeys } from "../config/compat/compat-keys.ts";
import { nearestKey } from "../config/checks/issues.ts";
import { loadConfig } from "../config/load.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { compatKey, plainKey } from "../config/compat/translate.ts";

/** `all` values of an option, `none`, those listed, or `own`: an option of another backend. */
export type Supported = "all" | "none" | "own" | readonly unknown[];

export interface ExplainedOption extends ConfigField {
  /** By backend. */
  readonly supported: Readonly<Record<string, Supported>>;
  /** Its names in configuration files of rLLM and verl. */
  readonly otherNames: readonly string[];
}

export const backendNames: readonly string[] = Object.keys(capabilityMatrix);

const fieldsByKey = (): ReadonlyMap<string, ConfigField> =>
  new Map(configFields().map((field) => [field.key, field]));

/** The value of an option that is not set. */
function usualValue({ default: standard, inherits }: ConfigField): unknown {
  return inherits === undefined ? standard : fieldsByKey().get(inherits)?.default;
}

/** A value of an option other than `value`. */
function otherThan(value: unknown, key: string): unknown {
  const text = JSON.stringify(value);
  return fieldsByKey()
    .get(key)
    ?.examples.find((other) => JSON.stringify(other) !== text);
}

type Options = Readonly<Record<string, unknown>>;

/** Each of these sets of options meets the requirement. */
function waysToMeet(requirement: Requirement): readonly Options[] {
  if ("data" in requirement) return [{}];
  if ("anyOf" in requirement) return requirement.anyOf.flatMap(waysToMeet);
  const { option } = requirement;
  if ("above" in requirement) return [{ [option]: requirement.above + 1 }];
  if ("not" in requirement) return [{ [option]: otherThan(requirement.not, option) }];
  if ("includes" in requirement) return [{ [option]: [requirement.includes] }];
  return [{ [option]: requirement.is[0] }];
}

/** Options that must be set too, so that a value takes effect and contradicts nothing: each alternative. */
function requiredOptionsOf({ requires }: ConfigField): readonly Options[] {
  return requires.reduce<readonly Options[]>(
    (sets, requirement) =>
      sets.flatMap((set) => waysToMeet(requirement).map((way) => ({ ...set, ...way }))),
    [{}],
  );
}

/** An option with a value, and a configuration that has it with the other options that must be set with it. */
export interface OptionProbe {
  readonly value: unknown;
  readonly config: TrainConfig;
}

/** LoRA is on: every backend supports it. */
const base = { "model.name": "m", "model.lora_rank": 8 };

/** null where it is not a valid configuration. */
function configOf(overrides: Options): TrainConfig | null {
  try {
    return loadConfig({ overrides: { ...base, ...overrides } }).config;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/** All values of an option where they can be listed, else one that is not its default; with every alternative of what they require. */
export function optionProbes(field: ConfigField): readonly OptionProbe[] {
  const { key, allowed, backend, examples } = field;
  const usual = JSON.stringify(usualValue(field));
  const sets = requiredOptionsOf(field);
  const probes = examples.flatMap((value) =>
    sets.flatMap((set) => {
      const config = configOf({ ...set, [key]: value });
      return config === null ? [] : [{ value, config }];
    }),
  );
  const isListed = /^(?:one of|true or false)/u.test(allowed) || backend?.values === "all";
  if (isListed) return probes;
  const others = probes.filter(({ value }) => JSON.stringify(value) !== usual);
  return others.filter(({ value }) => value === others[0]?.value);
}

/** The backend whose options these are; others do not have them. */
function ownerOf(key: string): string | undefined {
  return backendNames.find((name) => key.startsWith(`${name}.`));
}

/** Whether the backend of this package supports everything that the configuration requests. */
function isSupported(backend: string, config: TrainConfig): boolean {
  const capabilities = capabilityMatrix[backend as keyof typeof capabilityMatrix];
  return capabilityRules.every((rule) => rule.supported(capabilities, config));
}

/** Of the values that were tried, those that a backend supports. */
function supportedOf(probes: readonly OptionProbe[], backend: string): Supported {
  const values = [...new Set(probes.map(({ value }) => value))];
  const kept = values.filter((value) =>
    probes.some((probe) => probe.value === value && isSupported(backend, probe.config)),
  );
  if (kept.length === values.length) return "all";
  return kept.length === 0 || (kept.length === 1 && kept[0] === false) ? "none" : kept;
}

/** Values of one option that each backend supports. */
export function supportedValues(field: ConfigField): Readonly<Record<string, Supported>> {
  const owner = ownerOf(field.key);
  const probes = owner === undefined ? optionProbes(field) : [];
  return Object.fromEntries(
    backendNames.map((backend) => {
      if (owner !== undefined) return [backend, owner === backend ? "all" : "own"];
      return [backend, supportedOf(probes, backend)];
    }),
  );
}

/** A key of rLLM or verl that is not the name of an option here. */
export interface ExplainedCompatKey {
  readonly key: string;
  readonly becomes?: readonly string[];
  readonly only?: readonly unknown[];
  readonly why: string;
}

/** @throws ConfigError when there is no such option; the message suggests the nearest one. */
export function explainOption(path: string): ExplainedOption | ExplainedCompatKey {
  const plain = plainKey(path);
  const key = typeFields().get(plain)?.key ?? plain;
  const field = configFields().find((other) => other.key === key);
  if (field !== undefined) {
    return {
      ...field,
      supported: supportedValues(field),
      otherNames: compatKeys.flatMap((other) =>
        "to" in other && [other.to].flat().includes(key) ? [other.from] : [],
      ),
    };
  }
  const entry = compatKey(key);
  if (entry === undefined) throw unknownOption(path, key);
  if ("idle" in entry) return { key, why: `It has no effect: ${entry.idle}.` };
  if ("only" in entry)
    return {
      key,
      only: [...entry.only, ...(entry.noted ?? [])],
      why: `Another value is refused: ${entry.why}.`,
    };
  return { key, becomes: [entry.to].flat(), why: "It has another name here." };
}

function unknownOption(path: string, key: string): ConfigError {
  const known = configFields().map((field) => field.key);
  const nearest = nearestKey(key, known);
  const below = known.filter((other) => other.startsWith(`${key}.`));
  return new ConfigError({
    message:
      below.length > 0
        ? `${path} is a section; its options are ${below.join(", ")}.`
        : `There is no option ${path}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    fields: { key, nearest },
  });
}
