/** A small model from nothing but demonstrations: supervised training with our own engine, written as a folder. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatMessage, JsonObject, ToolDefinition } from "../../src/core/message.ts";
import type { Renderer } from "../../src/core/policy.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { encodeSafetensors } from "../../src/engine/checkpoint/safetensors.ts";
import { parseModelConfig } from "../../src/engine/model/parse-config.ts";
import { createPolicy } from "../../src/engine/decoder/policy.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { randomWeights } from "../../src/engine/model/random-weights.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { createChatmlRenderer } from "../../src/models/renderers/chatml.ts";
import { createTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";

const peakLearningRate = 4e-3;
const warmupSteps = 30;

export const special: readonly string[] = [
  "<|endoftext|>",
  "<|im_start|>",
  "<|im_end|>",
  "<tool_call>",
  "</tool_call>",
];

/** The model's `config.json`. */
export const configOf = (vocabSize: number, contextLength: number): JsonObject => ({
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  vocab_size: vocabSize,
  hidden_size: 128,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  intermediate_size: 384,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: contextLength,
  tie_word_embeddings: true,
  hidden_act: "silu",
  bos_token_id: null,
  eos_token_id: vocabSize - special.length + special.indexOf("<|im_end|>"),
  torch_dtype: "float32",
});

export interface Lesson {
  readonly config: JsonObject;
  /** The JSON of a tokenizer. */
  readonly tokenizer: object;
  readonly tools: readonly ToolDefinition[];
  readonly demonstrate: (random: () => number) => readonly ChatMessage[];
  readonly seed: number;
  readonly steps: number;
  readonly batchSize: number;
  /** Folder of the model. */
  readonly out: string;
}

/** The ids that a rollout with these messages would have, and which of them the model says. */
function toRow(
  renderer: Renderer,
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
): TrainingRow {
  const first = messages.findIndex(({ role }) => role === "assistant");
  const [endId] = renderer.stop.tokenIds;
  let tokens = renderer.render(messages.slice(0, first), { tools }).tokens;
  const said: [number, number][] = [];
  for (let i = first; i < messages.length; i++) {
    if (messages[i]!.role !== "assistant") continue;
    const prompt = renderer.render(messages.slice(0, i), { tools }).tokens.length;
    const whole = renderer.render(messages.slice(0, i + 1), { tools }).tokens;
    const answer = whole.subarray(prompt, whole.indexOf(endId!, prompt) + 1);
    said.push([tokens.length, tokens.length + answer.length]);
    tokens = Int32Array.from([...tokens, ...answer]);
    const reply = messages.slice(
      i + 1,
      messages.findIndex(({ role }, k) => k > i && role === "assistant"),
    );
    if (i + 1 < messages.length) tokens = renderer.extend(tokens, reply)!.tokens;
  }
  const targetMask = new Uint8Array(tokens.length);
  for (const [start, end] of said) targetMask.fill(1, start, end);
  return {
    tokens,
    targetMask,
    samplingLogprobs: new Float32Array(tokens.length),
    advantages: new Float32Array(tokens.length),
    segments: [],
    provenance: {
      taskId: "",
      episodeId: "",
      rolloutIndex: 0,
      trajectoryUid: "",
      trajectoryName: "",
    },
  };
}

/** Trains, and writes the model. */
export async function teach(lesson: Lesson): Promise<void> {
  const { config, tokenizer, tools, demonstrate, seed, steps, batchSize, out } = lesson;
  const renderer = createChatmlRenderer(createTokenizer(tokenizer, "tokenizer.json"), {
    tools: "names",
  });
  const model = parseModelConfig(config, "config.json");
  const device = new Device({ threads: 2 });
  const policy = await createPolicy(model, randomWeights(model, seed), {
    device,
    lora: null,
    seed,
  });
  const trainer = new PolicyTrainer(policy, { memoryMiB: 1536 });
  const random = createRandom(deriveSeed(seed, "demonstrations"));
  const loss = {
    name: "cross_entropy",
    epsClip: 0,
    epsClipHigh: 0,
    aggregation: "token-mean",
  } as const;
  const begun = performance.now();
  for (let step = 1; step <= steps; step++) {
    const rows = Array.from({ length: batchSize }, () =>
      toRow(renderer, demonstrate(random), tools),
    );
    const { loss: value } = await trainer.forwardBackward(rows, loss);
    const progress = Math.max(0, step - warmupSteps) / (steps - warmupSteps);
    const schedule =
      step < warmupSteps ? step / warmupSteps : 0.5 * (1 + Math.cos(Math.PI * progress)) + 0.01;
    const optim = {
      learningRate: peakLearningRate * schedule,
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-8,
      weightDecay: 0.01,
      maxGradNorm: 1,
    };
    await trainer.optimStep(optim);
    if (step % 50 === 0 || step === 1) {
      const seconds = (performance.now() - begun) / 1000;
      const tokens = rows.reduce((sum, row) => sum + row.tokens.length, 0) / rows.length;
      console.log(
        `step ${step}/${steps}  loss ${value!.toFixed(4)}  ${seconds.toFixed(0)} s  ${tokens.toFixed(0)} tokens a conversation`,
      );
    }
  }

  await mkdir(out, { recursive: true });
  const save = (file: string, content: string | Uint8Array): Promise<void> =>
    writeFile(join(out, file), content);
  const tensors = new Map(
    policy.base.map(({ name, shape }) => [name, { shape, data: policy.data.get(name)! }]),
  );
  await save("model.safetensors", encodeSafetensors(tensors));
  await save("config.json", `${JSON.stringify(config, null, 2)}\n`);
  await save("tokenizer.json", `${JSON.stringify(tokenizer)}\n`);
  const chatTemplate =
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  const tokenizerConfig = {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: "<|im_end|>",
    chat_template: chatTemplate,
    tool_prompt: "names",
  };
  await save("tokenizer_config.json", `${JSON.stringify(tokenizerConfig, null, 2)}\n`);
  console.log(`wrote ${out} in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}
