/** What a run says at its start of a base that was quantized: the distance to the model as published. */
import type { Renderer } from "../../core/policy.ts";
import type { QuantizationDistance } from "../../engine/quantization-distance.ts";

const questions = [
  "Write a short story about a dog.",
  "Explain gravity to a child.",
  "What is 12 times 7? Think step by step.",
  "Give me a JSON object with name and age of a fictional person.",
];

/** Prompts that the model continues to measure the distance. */
export function probePrompts(renderer: Renderer): readonly Int32Array[] {
  return questions.map((content) => renderer.render([{ role: "user", content }]).tokens);
}

/** Differences beyond these change what is sampled noticeably. */
const limits = { kl: 0.01, effectiveSampleSize: 0.98 };

export function quantizationNotice({
  kl,
  effectiveSampleSize,
  tokens,
}: QuantizationDistance): string {
  const isFar = kl > limits.kl || effectiveSampleSize < limits.effectiveSampleSize;
  const distance = `KL divergence ${kl.toFixed(4)} nats per token, effective sample size ${(100 * effectiveSampleSize).toFixed(1)} %, over ${tokens} tokens that it sampled`;
  return [
    `The base is in 8-bit integers (model.quantization=int8); distance to the model as published: ${distance}.`,
    ...(isFar ? ["That is more than usual; compare rewards with model.quantization=none."] : []),
  ].join(" ");
}
