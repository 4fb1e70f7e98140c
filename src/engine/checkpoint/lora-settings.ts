/**
 * The settings of a LoRA adapter (PEFT's `adapter_config.json`): those that the merge follows, and the others, which
 * are refused where they change what the adapter computes. As in PEFT 0.21.
 */
import { RE2JS } from "re2js";
import { ModelError } from "../../core/errors.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Read, or without an effect on what is merged: which tensors there are says what was adapted. */
const known = new Set([
  ...["peft_type", "task_type", "base_model_name_or_path", "revision", "inference_mode"],
  ...["r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern", "init_lora_weights"],
  ...["target_modules", "exclude_modules", "layers_to_transform", "layers_pattern"],
  ...["auto_mapping", "peft_version", "lora_dropout", "megatron_config", "megatron_core"],
  ...["loftq_config", "eva_config", "corda_config", "lora_ga_config"],
  ...["runtime_config", "ensure_weight_tying"],
]);

/** Initializations that leave the weights of the base as they are; null and false are none. */
const plainStarts = new Set<unknown>([null, true, false, "gaussian", "orthogonal", "eva", "mica"]);
/** Those that take a part out of the base, each time that PEFT loads the adapter. */
const residualStart = /^(?:pissa.*|olora|corda.*|lora_ga|loftq)$/u;

/** Those that are not merged, whatever their value, unless it is empty. */
const switches =
  /^(?:use_\w+|fan_in_fan_out|lora_bias|modules_to_save|target_parameters|layer_replication|trainable_token_indices|alora_invocation_tokens)$/u;

/** Later versions of PEFT have further settings; a name or a number belongs to one that is switched on. */
function isOff(key: string, value: unknown): boolean {
  if (key === "bias") return (value ?? "none") === "none";
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return switches.test(key) ? (value ?? false) === false : value !== true;
}

const lower = (value: unknown): unknown =>
  typeof value === "string" ? value.toLowerCase() : value;

type Refuse = (what: string, hint?: string) => never;

/** PEFT's patterns are regular expressions for a module's path, or for the end of it that begins after a dot. */
function patternFinder(value: unknown, key: string, refuse: Refuse): (module: string) => unknown {
  if (typeof (value ?? {}) !== "object" || Array.isArray(value))
    return refuse(`"${key}" is ${JSON.stringify(value)}, not an object`);
  const patterns = Object.entries((value ?? {}) as Raw).map(([source, of]) => {
    try {
      // Of Python only.
      if (source.includes("{,")) throw new SyntaxError("{,n} is not supported");
      return { pattern: RE2JS.compile(`(?:.*\\.)?(?:${source})`), of };
    } catch (cause) {
      return refuse(
        `the pattern ${JSON.stringify(source)} in "${key}" cannot be read: ${(cause as Error).message}`,
        "Write it without look-around and back references, as an adapter's own module names are.",
      );
    }
  });
  return (module) => patterns.find(({ pattern }) => pattern.matches(module))?.of;
}

/**
 * Each module's factor of B A: alpha / rank, or alpha / sqrt(rank) with rank stabilization (arXiv:2312.03732).
 * @throws ModelError naming the setting that is not supported.
 */
export function readScaling(config: Raw, file: string): (module: string, rank: number) => number {
  const refuse: Refuse = (what, hint) => {
    throw new ModelError({ message: `${file}: ${what}.`, ...(hint && { hint }), fields: { file } });
  };
  const {
    peft_type: type,
    init_lora_weights: start = null,
    use_rslora: stabilized = null,
  } = config;
  if (type !== "LORA")
    refuse(`an adapter of type ${JSON.stringify(type)} is not supported; supported: "LORA"`);
  if (typeof start === "string" && residualStart.test(start.toLowerCase())) {
    refuse(
      `"init_lora_weights": ${JSON.stringify(start)} changed the weights of the base, to which the update cannot be added`,
      "Save the adapter in PEFT as one for the unchanged base, save_pretrained(..., path_initial_model_for_weight_conversion=...), or merge it there with merge_and_unload().",
    );
  }
  if (!plainStarts.has(lower(start)))
    refuse(`"init_lora_weights": ${JSON.stringify(start)} is not supported`);
  if (![null, true, false].includes(stabilized as boolean | null))
    refuse(`"use_rslora" is ${JSON.stringify(stabilized)}, but must be true or false`);
  for (const [key, value] of Object.entries(config)) {
    if (!known.has(key) && !isOff(key, value))
      refuse(`"${key}": ${JSON.stringify(value)} is not supported`);
  }
  const alphaOf = patternFinder(config["alpha_pattern"], "alpha_pattern", refuse);
  const rankOf = patternFinder(config["rank_pattern"], "rank_pattern", refuse);
  return (module, rank) => {
    const expected = rankOf(module) ?? config["r"];
    if (typeof expected === "number" && expected !== rank)
      refuse(`it gives "${module}" the rank ${expected}, but its factors have ${rank}`);
    const alpha = alphaOf(module) ?? config["lora_alpha"];
    if (typeof alpha !== "number")
      return refuse(`"lora_alpha" is ${JSON.stringify(alpha)} for "${module}", not a number`);
    return alpha / (stabilized === true ? Math.sqrt(rank) : rank);
  };
}
