/** Test help: a whole model in a folder, with a byte-level tokenizer and a chat template. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeSafetensors } from "../../src/engine/checkpoint/safetensors.ts";
import { baseParameters } from "../../src/engine/model/parameters.ts";
import { parseModelConfig } from "../../src/engine/model/parse-config.ts";
import { readGgufTokenizer } from "../../src/models/tokenizers/gguf-tokenizer.ts";
import { smallWeights } from "./small-model.ts";

/** GPT-2's letter for each byte. */
function byteLetters(): string[] {
  let moved = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
    return String.fromCodePoint(isPrintable ? byte : moved++);
  });
}

const specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const merges = ["h e", "l l", "he ll", "hell o", "Ġ hello", "i n", "Ġ in"];
const chatTemplate =
  "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** Metadata as in a GGUF file of such a model. */
export function smallTokenizerMetadata(): Record<string, unknown> {
  const words = [...byteLetters(), ...merges.map((merge) => merge.replace(" ", "")), ...specials];
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": words,
    "tokenizer.ggml.token_type": words.map((word) => (specials.includes(word) ? 3 : 1)),
    "tokenizer.ggml.merges": merges,
    "tokenizer.ggml.bos_token_id": words.indexOf("<|im_start|>"),
    "tokenizer.ggml.eos_token_id": words.indexOf("<|im_end|>"),
    "tokenizer.chat_template": chatTemplate,
  };
}

export async function writeSmallModel(folder: string): Promise<void> {
  const { tokenizer, config: tokenizerConfig } = readGgufTokenizer(smallTokenizerMetadata(), "x");
  const vocabSize = (smallTokenizerMetadata()["tokenizer.ggml.tokens"] as string[]).length;
  const config = {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    vocab_size: vocabSize,
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 8,
    intermediate_size: 48,
    hidden_act: "silu",
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    max_position_embeddings: 256,
    tie_word_embeddings: true,
  };
  const shape = parseModelConfig(config, "small");
  const weights = smallWeights(shape);
  const tensors = new Map(
    baseParameters(shape).map((spec) => [
      spec.name,
      { shape: spec.shape, data: weights.get(spec.name)! },
    ]),
  );
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "model.safetensors"), encodeSafetensors(tensors));
  for (const [name, content] of Object.entries({
    "config.json": config,
    "tokenizer.json": tokenizer,
    "tokenizer_config.json": tokenizerConfig,
  }))
    await writeFile(join(folder, name), JSON.stringify(content));
}
