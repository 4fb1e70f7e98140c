/** The two models that the engine is measured on, as folders. */
import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Quantization } from "../../src/core/backend.ts";
import type { PrecisionOption } from "../../src/core/precision.ts";
import { runChild } from "../harness/child.ts";

export interface ModelCase {
  readonly name: string;
  readonly folder: string;
  /** Rank of the LoRA factors that are trained; null trains every weight. */
  readonly loraRank: number | null;
  readonly vocabSize: number;
  /** @default "auto" */
  readonly precision?: PrecisionOption;
  /** Of the frozen base. @default "none" */
  readonly quantization?: Quantization;
}

/** `config.json` of HuggingFaceTB/SmolLM2-135M but for the base of its rotary frequencies, which costs nothing. */
export const smolConfig = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  vocab_size: 49_152,
  hidden_size: 576,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
  intermediate_size: 1536,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 2048,
  tie_word_embeddings: true,
  hidden_act: "silu",
} as const;

export const shopTiny: ModelCase = {
  name: "shop-tiny",
  folder: fileURLToPath(new URL("../../models/shop-tiny/", import.meta.url)),
  loraRank: null,
  vocabSize: 512,
};

/** Writes 538 MB of random weights into `parent`. */
export async function writeSmolModel(parent: string): Promise<ModelCase> {
  const folder = join(parent, "smollm2-135m");
  await mkdir(folder);
  await runChild(new URL("write-model.ts", import.meta.url), { folder, config: smolConfig });
  return { name: "SmolLM2-135M shape", folder, loraRank: 16, vocabSize: smolConfig.vocab_size };
}

/** As many as the local backend takes by default. */
export function defaultThreads(): number {
  return Math.max(2, Math.floor(availableParallelism() / 2));
}
