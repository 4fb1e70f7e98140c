/** The same messages as JSON. What comes in is checked; what is odd is said by name. */
import { z } from "zod";
import type {
  Datum,
  ForwardBackwardOutput,
  ForwardBackwardRequest,
  TinkerSampleOutput,
  TopTokens,
} from "../messages.ts";
import { concatenate } from "./proto-codec.ts";
import { densify, type TinkerTensor } from "./tensor.ts";
import { TinkerWireError } from "../tinker-error.ts";

const tensorSchema = z.object({
  data: z.array(z.number()),
  dtype: z.enum(["int64", "float32"]),
  shape: z.array(z.int()).nullish(),
  sparse_crow_indices: z.array(z.int()).nullish(),
  sparse_col_indices: z.array(z.int()).nullish(),
});

const modelInputSchema = z.object({
  chunks: z.array(z.looseObject({ type: z.string().default("encoded_text") })),
});

const datumSchema = z.object({
  model_input: modelInputSchema,
  loss_fn_inputs: z.record(z.string(), tensorSchema),
});

const forwardBackwardInputSchema = z.object({
  data: z.array(datumSchema),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.number()).nullish(),
});

const forwardBackwardSchema = z.object({
  model_id: z.string(),
  seq_id: z.int().nullish(),
  forward_backward_input: forwardBackwardInputSchema.nullish(),
  forward_input: forwardBackwardInputSchema.nullish(),
});

const outputSchema = z.object({
  loss_fn_output_type: z.string().default(""),
  loss_fn_outputs: z.array(z.record(z.string(), tensorSchema)),
  metrics: z.record(z.string(), z.number()).default({}),
});

const sampleSchema = z.object({
  sequences: z.array(
    z.object({
      stop_reason: z.enum(["stop", "length"]),
      tokens: z.array(z.int()),
      logprobs: z.array(z.number()).nullish(),
    }),
  ),
  prompt_logprobs: z.array(z.number().nullable()).nullish(),
  topk_prompt_logprobs: z.array(z.array(z.tuple([z.number(), z.number()])).nullable()).nullish(),
  prompt_cache_hit_tokens: z.int().nullish(),
});

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new TinkerWireError(`${what}: ${path.join(".")}: ${message}`, { path });
}

/** @throws TinkerWireError for what an id cannot be; a typed array would round it or cut it off. */
function toIds(values: readonly number[], what: string): Int32Array {
  const stray = values.find((value) => (value | 0) !== value);
  if (stray !== undefined)
    throw new TinkerWireError(`${what}: ${stray} is no whole number of 32 bits.`, { stray });
  return Int32Array.from(values);
}

function toTensor(wire: z.output<typeof tensorSchema>): TinkerTensor {
  const shape = wire.shape ?? [wire.data.length];
  const tensor: TinkerTensor =
    wire.dtype === "float32"
      ? { dtype: "float32", data: Float32Array.from(wire.data), shape }
      : { dtype: "int64", data: toIds(wire.data, "A tensor of int64"), shape };
  const { sparse_crow_indices: rows, sparse_col_indices: columns } = wire;
  return rows && columns ? densify(tensor, rows, columns) : tensor;
}

function fromTensor({ data, dtype, shape }: TinkerTensor): object {
  return { data: Array.from(data), dtype, shape };
}

/** @throws TinkerWireError for anything but text. */
export function tokensOf(input: unknown): Int32Array {
  const { chunks } = check(modelInputSchema, input, "A model input is not as expected");
  return concatenate(
    chunks.map((chunk) => {
      if (chunk.type !== "encoded_text")
        throw new TinkerWireError(`Only text can be given to a model here, not ${chunk.type}.`);
      return toIds(check(z.array(z.number()), chunk["tokens"], "tokens"), "tokens");
    }),
  );
}

export function modelInputJson(tokens: Int32Array): object {
  return { chunks: [{ type: "encoded_text", tokens: Array.from(tokens) }] };
}

/** @param forwardOnly whether it came to the route that computes no gradients. */
export function forwardBackwardFromJson(
  json: unknown,
  forwardOnly: boolean,
): ForwardBackwardRequest {
  const wire = check(forwardBackwardSchema, json, "The request is not as expected");
  const input = wire.forward_backward_input ?? wire.forward_input;
  if (!input) throw new TinkerWireError("The request has no forward_backward_input.");
  return {
    modelId: wire.model_id,
    seqId: wire.seq_id ?? null,
    data: input.data.map((datum): Datum => ({
      tokens: tokensOf(datum.model_input),
      lossInputs: mapValues(datum.loss_fn_inputs, toTensor),
    })),
    lossFn: input.loss_fn,
    lossConfig: input.loss_fn_config ?? {},
    forwardOnly,
  };
}

export function forwardBackwardToJson(request: ForwardBackwardRequest): object {
  const input = {
    data: request.data.map(({ tokens, lossInputs }) => ({
      model_input: modelInputJson(tokens),
      loss_fn_inputs: mapValues(lossInputs, fromTensor),
    })),
    loss_fn: request.lossFn,
    ...(Object.keys(request.lossConfig).length === 0 ? {} : { loss_fn_config: request.lossConfig }),
  };
  return {
    model_id: request.modelId,
    ...(request.seqId === null ? {} : { seq_id: request.seqId }),
    ...(request.forwardOnly ? { forward_input: input } : { forward_backward_input: input }),
  };
}

export function outputFromJson(json: unknown): ForwardBackwardOutput {
  const wire = check(outputSchema, json, "The result of a forward pass is not as expected");
  return {
    outputType: wire.loss_fn_output_type,
    outputs: wire.loss_fn_outputs.map((one) => mapValues(one, toTensor)),
    metrics: wire.metrics,
  };
}

export function outputToJson(output: ForwardBackwardOutput): object {
  return {
    loss_fn_output_type: output.outputType,
    loss_fn_outputs: output.outputs.map((one) => mapValues(one, fromTensor)),
    metrics: output.metrics,
  };
}

export function sampleFromJson(json: unknown): TinkerSampleOutput {
  const wire = check(sampleSchema, json, "A sample is not as expected");
  return {
    sequences: wire.sequences.map((sequence) => ({
      stopReason: sequence.stop_reason,
      tokens: Int32Array.from(sequence.tokens),
      logprobs: sequence.logprobs ? Float32Array.from(sequence.logprobs) : null,
    })),
    promptLogprobs: wire.prompt_logprobs
      ? Float32Array.from(wire.prompt_logprobs, (value) => value ?? Number.NaN)
      : null,
    topPromptTokens: (wire.topk_prompt_logprobs as TopTokens[] | null | undefined) ?? null,
    cacheHitTokens: wire.prompt_cache_hit_tokens ?? 0,
  };
}

export function sampleToJson(output: TinkerSampleOutput): object {
  const { targetPromptLogprobs: scores, promptAltTokens: others } = output;
  return {
    type: "sample",
    sequences: output.sequences.map(({ tokens, logprobs, stopReason, topTokens }) => ({
      stop_reason: stopReason,
      ...(topTokens === undefined ? {} : { topk_sampled_logprobs: topTokens }),
      tokens: Array.from(tokens),
      logprobs: logprobs === null ? null : Array.from(logprobs),
    })),
    prompt_logprobs:
      output.promptLogprobs === null
        ? null
        : Array.from(output.promptLogprobs, (value) => (Number.isNaN(value) ? null : value)),
    topk_prompt_logprobs: output.topPromptTokens,
    prompt_cache_hit_tokens: output.cacheHitTokens,
    ...(scores === undefined
      ? {}
      : {
          target_prompt_logprobs: {
            ...fromTensor(scores),
            ...(scores.columns === undefined
              ? {}
              : {
                  sparse_crow_indices: scores.rowStarts,
                  sparse_col_indices: scores.columns,
                }),
          },
        }),
    ...(others === undefined ? {} : { prompt_alt_tokens: mapValues(others, fromTensor) }),
  };
}

function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
