/**
 * Describes one option: meaning, values, other names, and which backends support it. Support is found
 * by running the same rules that check a run, value by value.
 */
import { capabilityMatrix } from "../core/capabilities.ts";
import { ConfigError } from "../core/errors.ts";
import { capabilityRules } from "./check-capabilities.ts";
import { type ConfigField, configFields } from "../config/fields.ts";
import { compatKeys } from "../config/compat/compat-keys.ts";
import { nearestKey } from "../config/issues.ts";
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

/** Options that must be set too, so that a value takes effect and contradicts nothing. */
const assets: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "algorithm.loss_scale_factor": { "algorithm.loss_agg_mode": "seq-mean-token-sum-norm" },
  "algorithm.dro_beta": { "algorithm.loss_fn": "dro" },
  "algorithm.sapo_tau_pos": { "algorithm.loss_fn": "sapo" },
  "algorithm.sapo_tau_neg": { "algorithm.loss_fn": "sapo" },
  "algorithm.kl_estimator": { "algorithm.kl_beta": 0.1 },
  "algorithm.kl_penalty": { "algorithm.use_kl_in_reward": true },
  "algorithm.kl_ctrl": { "algorithm.use_kl_in_reward": true },
  "algorithm.rollout_correction.rollout_rs": {
    "algorithm.rollout_correction.rollout_rs_threshold": "2",
  },
  "algorithm.rollout_correction.rollout_rs_threshold": {
    "algorithm.rollout_correction.rollout_rs": "token_k1",
  },
  "algorithm.rollout_correction.tis_cap": { "algorithm.rollout_correction.tis_mode": "token" },
  "algorithm.rollout_correction.rollout_is_batch_normalize": {
    "algorithm.rollout_correction.tis_mode": "token",
  },
  stepwise_advantage: { "stepwise_advantage.enable": true },
  rejection_sample: { "rejection_sample.enable": true },
  async_training: { "async_training.enable": true },
};

/** Values to try where an option takes more than can be listed. */
const samples: readonly unknown[] = [
  0,
  0.5,
  1,
  2,
  8,
  64,
  1024,
  "token_k1",
  "val/x",
  "a",
  ["role=rloo"],
  ["role=dro"],
];

function requiredOptionsOf(key: string): Readonly<Record<string, unknown>> {
  const parts = key.split(".");
  const prefixes = parts.map((_, i) => parts.slice(0, i + 1).join("."));
  return Object.assign({}, ...prefixes.map((prefix) => assets[prefix] ?? {})) as Readonly<
    Record<string, unknown>
  >;
}

/** An option with a value, and the other options that must be set with it. */
export interface OptionProbe {
  readonly value: unknown;
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** LoRA is on: every backend supports it. */
function probeOf(key: string, value: unknown): OptionProbe {
  const base = { "model.name": "m", "model.lora_rank": 8 };
  return { value, overrides: { ...base, ...requiredOptionsOf(key), [key]: value } };
}

/** null where it is not a valid configuration. */
function configOf({ overrides }: OptionProbe): TrainConfig | null {
  try {
    return loadConfig({ overrides }).config;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/** Values of an option to probe: those it lists, or one that is not its default. */
function valuesOf({ key, allowed, default: standard, inherits }: ConfigField): readonly unknown[] {
  const inherited = configFields().find((field) => field.key === inherits);
  const usual = inherited === undefined ? standard : inherited.default;
  const listed = /^one of ([\w, -]+?)(?:, or (?:null|path#export.*))?$/u
    .exec(allowed)?.[1]
    ?.split(", ");
  if (listed !== undefined) return key === "algorithm.adv_estimator" ? [...listed, "gae"] : listed;
  if (allowed.startsWith("true or false")) return [true, false];
  // Its default is the only value that some backends support.
  if (key === "model.lora_alpha") return [usual, 16];
  const other = samples.find((value) => value !== usual && configOf(probeOf(key, value)) !== null);
  return other === undefined ? [] : [other];
}

/** Values of an option to probe, each as a whole configuration. */
export function optionProbes(field: ConfigField): readonly OptionProbe[] {
  return valuesOf(field)
    .map((value) => probeOf(field.key, value))
    .filter((probe) => configOf(probe) !== null);
}

/** Sections that one backend reads and others do not have. */
function ownerOf(key: string): string | undefined {
  const section = key === "tinker_base_url" ? "tinker" : (key.split(".")[0] as string);
  return Object.hasOwn(capabilityMatrix, section) && key !== section ? section : undefined;
}

/** Whether the backend of this package supports everything that the configuration requests. */
function isSupported(backend: string, config: TrainConfig): boolean {
  const capabilities = capabilityMatrix[backend as keyof typeof capabilityMatrix];
  return capabilityRules.every((rule) => rule.supported(capabilities, config));
}

/** Values of one option that one backend supports. */
export function supportedValues(field: ConfigField, backend: string): Supported {
  const owner = ownerOf(field.key);
  if (owner !== undefined) return owner === backend ? "all" : "own";
  const probes = optionProbes(field);
  const values = probes.map(({ value }) => value);
  const kept = probes.flatMap((probe) => {
    const config = configOf(probe);
    return config === null || isSupported(backend, config) ? [probe.value] : [];
  });
  if (kept.length === values.length) return "all";
  return kept.length === 0 || (kept.length === 1 && kept[0] === false) ? "none" : kept;
}

export const backendNames: readonly string[] = Object.keys(capabilityMatrix);

/** A key of rLLM or verl that is not the name of an option here. */
export interface ExplainedCompatKey {
  readonly key: string;
  readonly becomes?: readonly string[];
  readonly only?: readonly unknown[];
  readonly why: string;
}

/** @throws ConfigError when there is no such option; the message suggests the nearest one. */
export function explainOption(path: string): ExplainedOption | ExplainedCompatKey {
  const key = plainKey(path);
  const field = configFields().find((other) => other.key === key);
  if (field !== undefined) {
    return {
      ...field,
      supported: Object.fromEntries(
        backendNames.map((backend) => [backend, supportedValues(field, backend)]),
      ),
      otherNames: compatKeys.flatMap((other) =>
        "to" in other && [other.to].flat().includes(key) ? [other.from] : [],
      ),
    };
  }
  const entry = compatKey(key);
  if (entry === undefined) throw unknownOption(path, key);
  if ("idle" in entry) return { key, why: `It has no effect: ${entry.idle}.` };
  if ("only" in entry)
    return { key, only: entry.only, why: `Another value is refused: ${entry.why}.` };
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
