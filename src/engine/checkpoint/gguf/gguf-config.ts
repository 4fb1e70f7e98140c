/** A GGUF file's metadata as the `config.json` that Hugging Face would have for the same model. */
import { ModelError } from "../../../core/errors.ts";
import type { GgufFile } from "./gguf-file.ts";
import { ggufFamilies } from "./gguf-families.ts";
import { ropeScalingOf } from "./gguf-rope.ts";
import { shortestFloat } from "./shortest-float.ts";

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** @throws ModelError naming what is missing or not supported. */
export function ggufModelConfig(
  { path, metadata, tensors }: GgufFile,
  ropeFactors: ReadonlyMap<string, Float32Array>,
): Record<string, unknown> {
  const refuse = (what: string): never => {
    throw new ModelError({ message: `${path}: ${what}.`, fields: { file: path } });
  };
  const architecture = text(metadata["general.architecture"]) ?? "none";
  const family = Object.hasOwn(ggufFamilies, architecture)
    ? ggufFamilies[architecture]!
    : refuse(
        `architecture "${architecture}" is not supported; supported: ${Object.keys(ggufFamilies).join(", ")}`,
      );
  const optional = (key: string): number | undefined => {
    const value = metadata[`${architecture}.${key}`];
    if (value === undefined) return undefined;
    if (typeof value === "number" || typeof value === "bigint") return Number(value);
    return refuse(`"${architecture}.${key}" is ${JSON.stringify(value)}, but must be a number`);
  };
  const number = (key: string): number =>
    optional(key) ?? refuse(`"${architecture}.${key}" is missing`);
  if ((optional("expert_count") ?? 0) > 0) refuse("mixtures of experts are not supported");
  const hiddenSize = number("embedding_length");
  const heads = number("attention.head_count");
  const headSize = optional("attention.key_length") ?? hiddenSize / heads;
  const turned = optional("rope.dimension_count") ?? headSize;
  if (turned !== headSize && architecture !== "phi3")
    refuse(`it turns ${turned} of ${headSize} dimensions of a head`);
  const theta = optional("rope.freq_base") ?? 10_000;
  const scaling = ropeScalingOf(
    {
      type: text(metadata[`${architecture}.rope.scaling.type`]) ?? "none",
      factor: optional("rope.scaling.factor"),
      factors: ropeFactors,
      attentionFactor: optional("rope.scaling.attn_factor"),
      theta,
    },
    refuse,
  );
  const tokenIds = Object.entries({ bos_token_id: "bos", eos_token_id: "eos" }).flatMap(
    ([key, token]) => {
      const id = metadata[`tokenizer.ggml.${token}_token_id`];
      return typeof id === "number" ? [[key, id]] : [];
    },
  );
  return {
    architectures: [family.hub],
    model_type: architecture,
    vocab_size: tensors.get("token_embd.weight")?.shape[0] ?? refuse("it has no token_embd.weight"),
    hidden_size: hiddenSize,
    num_hidden_layers: number("block_count"),
    num_attention_heads: heads,
    num_key_value_heads: optional("attention.head_count_kv") ?? heads,
    head_dim: headSize,
    intermediate_size: number("feed_forward_length"),
    hidden_act: "silu",
    ...(turned === headSize ? {} : { partial_rotary_factor: turned / headSize }),
    ...family.config?.(optional, headSize),
    rms_norm_eps: shortestFloat(number("attention.layer_norm_rms_epsilon")),
    rope_theta: shortestFloat(theta),
    ...(scaling === null ? {} : { rope_scaling: scaling }),
    max_position_embeddings: number("context_length"),
    tie_word_embeddings: !tensors.has("output.weight"),
    ...Object.fromEntries(tokenIds),
  };
}
