/**
 * Samples a token of each row of logits. Order of the filters as in Hugging Face and vLLM: temperature, top-k, top-p,
 * min-p; ties go to the smaller id.
 */
import type { Program } from "../program.ts";
import { scratchOf } from "../scratch.ts";
import type { Tensor } from "../tensor.ts";
import { checkShape } from "./check-shape.ts";
import { checkBiases, type LogitBiases } from "./head.ts";

/** All [1, R]. */
export interface SampleTensors {
  /** In [0, 1). */
  readonly uniforms: Tensor<"f64">;
  /** 0 takes the most likely token. */
  readonly temperatures: Tensor;
  readonly topP: Tensor;
  /** 0 keeps all. */
  readonly topK: Tensor<"i32">;
  readonly minP: Tensor;
  readonly biases: LogitBiases | null;
  /** Results: ids, and log p at temperature 1 and at the temperature; NaN where a logit is not a number. */
  readonly tokens: Tensor<"i32">;
  readonly logprobs: Tensor;
  readonly temperedLogprobs: Tensor;
}

/** logits [R, V], raw; biases are added to them in place. */
export function sampleRows(program: Program, logits: Tensor, tensors: SampleTensors): void {
  const { uniforms, temperatures, topP, topK, minP, biases } = tensors;
  const { tokens, logprobs, temperedLogprobs } = tensors;
  if (biases !== null) checkBiases(biases, logits);
  for (const tensor of [
    uniforms,
    temperatures,
    topP,
    topK,
    minP,
    tokens,
    logprobs,
    temperedLogprobs,
  ])
    checkShape("A row of numbers", tensor, 1, logits.rows);
  const floats = 3 * logits.columns;
  program.add(
    "sample_rows",
    logits.rows,
    logits.columns,
    logits,
    logits.stride,
    uniforms,
    temperatures,
    topP,
    topK,
    minP,
    biases?.rows ?? null,
    biases?.of ?? null,
    tokens,
    logprobs,
    temperedLogprobs,
    scratchOf(program.device, "sampling", program.device.threads * floats),
    floats,
  );
}
