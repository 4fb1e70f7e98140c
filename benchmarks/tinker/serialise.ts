/** How fast batches become bytes, and results numbers again. */
import { checkData } from "../../src/tinker-api/check-data.ts";
import { cutIntoChunks, defaultChunkLimits } from "../../src/tinker-api/chunks.ts";
import type { Datum, ForwardBackwardOutput } from "../../src/tinker-api/messages.ts";
import {
  decodeForwardBackwardOutput,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
} from "../../src/tinker-api/codec/proto-codec.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import { atLeast, result, type Result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";

function makeBatch(datums: number, tokens: number): readonly Datum[] {
  return Array.from({ length: datums }, (_, d) => ({
    tokens: Int32Array.from({ length: tokens }, (_token, i) => (i * 7919 + d) % 150_000),
    lossInputs: {
      target_tokens: createIdTensor(
        Int32Array.from({ length: tokens }, (_token, i) => (i * 31) % 150_000),
      ),
      logprobs: createFloatTensor(new Float32Array(tokens).fill(-1.5)),
      advantages: createFloatTensor(new Float32Array(tokens).fill(0.25)),
    },
  }));
}

/** As a client does before it sends. */
function encodeAll(batch: readonly Datum[]): number {
  checkData(batch);
  let bytes = 0;
  for (const data of cutIntoChunks(batch, defaultChunkLimits)) {
    bytes += encodeForwardBackwardRequest({
      modelId: "m",
      seqId: 1,
      data,
      lossFn: "ppo",
      lossConfig: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
      forwardOnly: false,
    }).length;
  }
  return bytes;
}

/** Of work that handles so many bytes, in MB (10^6) per second. */
function speed(work: () => number): number {
  const start = performance.now();
  const bytes = work();
  return bytes / 1e6 / ((performance.now() - start) / 1000);
}

export function measureSerialising(
  { datums, tokens }: { readonly datums: number; readonly tokens: number },
  repetitions: number,
): readonly Result[] {
  const batch = makeBatch(datums, tokens);
  const output: ForwardBackwardOutput = {
    outputType: "TorchLossReturn",
    outputs: batch.map(() => ({ logprobs: createFloatTensor(new Float32Array(tokens).fill(-2)) })),
    metrics: { "loss:sum": 1 },
  };
  const answer = encodeForwardBackwardOutput(output);
  const written: number[] = [];
  const read: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const write = speed(() => encodeAll(batch));
    const decode = speed(() => decodeForwardBackwardOutput(answer).outputs.length * tokens * 4);
    if (i > 0) {
      written.push(write);
      read.push(decode);
    }
  }
  const label = `${datums.toLocaleString("en")} datums of ${tokens.toLocaleString("en")} tokens`;
  return [
    result(`${label}: written`, "MB/s", median(written), atLeast(200)),
    result(`${label}: results read`, "MB/s", median(read)),
  ];
}
