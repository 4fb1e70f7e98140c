/** Bytes made with the official schema, and round trips. */
import { expect, test } from "vitest";
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  decodeSampleOutput,
  decodeTensor,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  encodeSampleOutput,
} from "./proto-codec.ts";
import type { ForwardBackwardRequest } from "../messages.ts";
import { createFloatTensor, createIdTensor } from "./tensor.ts";
import { TinkerWireError } from "../tinker-error.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));

const request: ForwardBackwardRequest = {
  modelId: "m",
  seqId: 1,
  data: [
    {
      tokens: Int32Array.of(1, 2),
      lossInputs: { target_tokens: createIdTensor(Int32Array.of(2, 3)) },
    },
  ],
  lossFn: "ppo",
  lossConfig: { clip_low_threshold: 0.8 },
  forwardOnly: false,
};
const requestHex =
  "0a016d10011a380a0c0a0a0a08010000000200000012280a0d7461726765745f746f6b656e7312170a10020000000000000003000000000000001802220102220370706f2a1d0a12636c69705f6c6f775f7468726573686f6c64119a9999999999e93f";

test("a request has the published bytes, and comes back", () => {
  expect(hex(encodeForwardBackwardRequest(request))).toBe(requestHex);
  expect(hex(encodeForwardBackwardRequest({ ...request, forwardOnly: true }))).toBe(
    `${requestHex}3001`,
  );
  expect(decodeForwardBackwardRequest(bytes(requestHex))).toEqual(request);
});

test("a sample has the published bytes, and comes back", () => {
  const sample = {
    sequences: [
      {
        stopReason: "stop" as const,
        tokens: Int32Array.of(5, 6),
        logprobs: Float32Array.of(-0.5, -1.25),
      },
      { stopReason: "length" as const, tokens: Int32Array.of(7), logprobs: Float32Array.of(-2) },
    ],
    promptLogprobs: Float32Array.of(Number.NaN, -3),
    topPromptTokens: [null, [[9, -0.125] as const]],
    cacheHitTokens: 3,
  };
  const golden =
    "0a14120805000000060000001a08000000bf0000a0bf0a0e08011204070000001a04000000c012080000c07f000040c01a180a0800000000090000001208804fc3c7000000be180120022003";
  expect(hex(encodeSampleOutput(sample))).toBe(golden);
  expect(decodeSampleOutput(bytes(golden))).toEqual(sample);
});

test("a sample of a live server is read", () => {
  const live = "0a0e080112041d0000001a040ac5adc012083edaacc06924a8c0";
  const { sequences, promptLogprobs } = decodeSampleOutput(bytes(live));
  expect(sequences).toEqual([
    {
      stopReason: "length",
      tokens: Int32Array.of(29),
      logprobs: Float32Array.of(-5.4303026),
    },
  ]);
  expect(promptLogprobs).toEqual(Float32Array.of(-5.4016409, -5.2544446));
});

test("an output has the published bytes, and comes back", () => {
  const output = {
    outputType: "scalar",
    outputs: [
      { logprobs: createFloatTensor(Float32Array.of(-1, -2)) },
      { logprobs: createFloatTensor(Float32Array.of(-0.5)) },
    ],
    metrics: { "loss:sum": 1.5 },
  };
  const golden =
    "0a067363616c6172123a12360a086c6f6770726f6273122a0a0c000080bf000000c0000000bf1218000000000000000008000000000000000c00000000000000180118021a130a086c6f73733a73756d11000000000000f83f";
  expect(hex(encodeForwardBackwardOutput(output))).toBe(golden);
  expect(decodeForwardBackwardOutput(bytes(golden))).toEqual(output);
});

test("sparse tensors become dense ones", () => {
  const golden =
    "12360a080000003f0000004012180000000000000000010000000000000002000000000000001a1002000000000000000000000000000000180122020203";
  expect(decodeTensor(bytes(golden))).toEqual({
    dtype: "float32",
    shape: [2, 3],
    data: Float32Array.of(0, 0, 0.5, 2, 0, 0),
  });
});

test("16-bit floats of a batch are widened", () => {
  const batched = "0a06803f00c0003f12180000000000000000040000000000000006000000000000001804";
  const entry = `0a017812${(batched.length / 2).toString(16)}${batched}`;
  const fields = `12${(entry.length / 2).toString(16)}${entry}`;
  const message = `12${(fields.length / 2).toString(16)}${fields}`;
  const { outputs } = decodeForwardBackwardOutput(bytes(message));
  expect(outputs.map(({ x }) => [...x!.data])).toEqual([[1, -2], [0.5]]);
});

test("integers beyond 32 bits, images and broken bytes are refused", () => {
  expect(() => decodeTensor(bytes("0a0800000000010000001802"))).toThrow(TinkerWireError);
  expect(() =>
    decodeForwardBackwardRequest(bytes("1a110a0f120d0a0489504e471203706e671804")),
  ).toThrow(TinkerWireError);
  expect(() => decodeSampleOutput(bytes("0aff"))).toThrow(TinkerWireError);
});

test("reads messages that lie in the middle of a Buffer", () => {
  const whole = {
    modelId: "m",
    seqId: 1,
    data: [
      {
        tokens: Int32Array.of(7, 8, 9),
        lossInputs: {
          target_tokens: createIdTensor(Int32Array.of(8, 9, 10)),
          weights: createFloatTensor(Float32Array.of(1, 0.5, 0)),
        },
      },
    ],
    lossFn: "cross_entropy",
    lossConfig: {},
    forwardOnly: false,
  };
  const message = encodeForwardBackwardRequest(whole);
  for (const before of [0, 1, 2, 3]) {
    const buffer = Buffer.concat([Buffer.alloc(before, 0xff), message, Buffer.alloc(5, 0xff)]);
    const part = buffer.subarray(before, before + message.length);
    expect(decodeForwardBackwardRequest(part)).toEqual(whole);
  }
});
