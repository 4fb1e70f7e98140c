/** A refused request is answered and the model's sequence goes on: whatever the refusal, whatever the encoding. */
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  encodeForwardBackwardRequest,
  protoMediaType,
} from "../../src/tinker-api/codec/proto-codec.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import { ProtoWriter } from "../../src/util/protobuf-writer.ts";
import { startServer, token, type LocalServer } from "./local-server.ts";
import { rawClient, type Json, type RawClient } from "./raw-client.ts";

let local: LocalServer;
let raw: RawClient;
beforeAll(async () => {
  // Waiting for a turn would be longer than the test may take.
  local = await startServer({ gapMs: 600_000 });
  raw = rawClient(local.server);
});
afterAll(() => local[Symbol.asyncDispose]());

const tokens = [40, 41, 42, 43];
const targets = { data: [41, 42, 43, 44], dtype: "int64" };
const weights = { data: [1, 1, 1, 1], dtype: "float32" };

function datum(inputs: Json): Json {
  const chunks = [{ type: "encoded_text", tokens }];
  return { model_input: { chunks }, loss_fn_inputs: inputs };
}

function forwardBackward(modelId: string, seqId: number, change: Json = {}): Json {
  const input = { data: [datum({ target_tokens: targets, weights })], loss_fn: "cross_entropy" };
  return { model_id: modelId, seq_id: seqId, forward_backward_input: { ...input, ...change } };
}

function image(modelId: string, seqId: number): Uint8Array<ArrayBuffer> {
  const content = new ProtoWriter()
    .bytes(1, Uint8Array.of(0x89, 0x50, 0x4e, 0x47))
    .string(2, "png");
  const chunk = new ProtoWriter().message(2, content);
  const datumWithImage = new ProtoWriter().message(1, chunk);
  return new ProtoWriter()
    .string(1, modelId)
    .integer(2, seqId)
    .message(3, datumWithImage)
    .string(4, "cross_entropy")
    .finish();
}

function proto(modelId: string, seqId: number, values: Float32Array): Uint8Array<ArrayBuffer> {
  const lossInputs = {
    target_tokens: createIdTensor(Int32Array.from(targets.data)),
    weights: createFloatTensor(values),
  };
  return encodeForwardBackwardRequest({
    modelId,
    seqId,
    data: [{ tokens: Int32Array.from(tokens), lossInputs }],
    lossFn: "cross_entropy",
    lossConfig: {},
    forwardOnly: false,
  });
}

type Send = (modelId: string, seqId: number) => Promise<Response>;

const refusals: readonly (readonly [string, Send, string])[] = [
  [
    "an image",
    (id, seq) => raw.post("forward_backward", image(id, seq), protoMediaType),
    "no images",
  ],
  [
    "an image in JSON",
    (id, seq) => {
      const chunks = [{ type: "image", data: "iVBORw==", format: "png" }];
      const data = [{ model_input: { chunks }, loss_fn_inputs: { target_tokens: targets } }];
      return raw.post("forward_backward", forwardBackward(id, seq, { data }));
    },
    "not image",
  ],
  [
    "NaN",
    (id, seq) =>
      raw.post("forward_backward", proto(id, seq, Float32Array.of(1, NaN, 1, 1)), protoMediaType),
    "NonFiniteInTensor",
  ],
  [
    "NaN as Python writes it in JSON",
    (id, seq) => {
      const text = JSON.stringify(forwardBackward(id, seq));
      return raw.post("forward_backward", text.replace("[1,1,1,1]", "[1,NaN,1,1]"));
    },
    "NonFiniteInTensor",
  ],
  [
    "a field of another type",
    (id, seq) => raw.post("forward_backward", forwardBackward(id, seq, { loss_fn: 7 })),
    "loss_fn",
  ],
  [
    "no data at all",
    (id, seq) => raw.post("forward_backward", { model_id: id, seq_id: seq }),
    "forward_backward_input",
  ],
  [
    "a message that is cut off",
    (id, seq) => {
      const whole = proto(id, seq, Float32Array.of(1, 1, 1, 1));
      return raw.post("forward_backward", whole.slice(0, -9), protoMediaType);
    },
    "protobuf",
  ],
  [
    "an unknown loss",
    (id, seq) => raw.post("forward_backward", forwardBackward(id, seq, { loss_fn: "hinge" })),
    "hinge",
  ],
  [
    "stable_reinforce",
    (id, seq) =>
      raw.post("forward_backward", forwardBackward(id, seq, { loss_fn: "stable_reinforce" })),
    '"advantages" is missing',
  ],
  [
    "a forward pass with a wrong tensor",
    (id, seq) => {
      const data = [datum({ target_tokens: { ...targets, data: [41] } })];
      const input = forwardBackward(id, seq, { data });
      return raw.post("forward", { ...input, forward_input: input["forward_backward_input"] });
    },
    "4 tokens",
  ],
  [
    "an absurd learning rate",
    (id, seq) =>
      raw.post("optim_step", {
        model_id: id,
        seq_id: seq,
        adam_params: { learning_rate: 1e308 },
      }),
    "learning_rate",
  ],
  [
    "a name that is none",
    (id, seq) => raw.post("save_weights", { model_id: id, seq_id: seq, path: "../x" }),
    "../x",
  ],
];

it.each(refusals)("goes on after %s", async (_, send, words) => {
  const modelId = await raw.createModel();
  const wrong = await send(modelId, 1);
  expect(await raw.resultOf(wrong)).toMatchObject({
    category: "user",
    error: expect.stringContaining(words),
  });
  const train = [
    await raw.post("forward_backward", forwardBackward(modelId, 2)),
    await raw.post("optim_step", { model_id: modelId, seq_id: 3, adam_params: {} }),
    await raw.post("save_weights", { model_id: modelId, seq_id: 4, path: "after" }),
  ];
  const [output, step, saved] = await Promise.all(train.map((response) => raw.resultOf(response)));
  expect(output).toMatchObject({ loss_fn_outputs: [{ logprobs: { shape: [4] } }] });
  expect((step!["metrics"] as Record<string, number>)["grad_norm"]).toBeGreaterThan(0);
  expect(saved).toMatchObject({ path: `tinker://${modelId}/weights/after` });
});

it("does not step on a batch of which a part was refused, and says so once", async () => {
  const modelId = await raw.createModel();
  const responses = [
    await raw.post("forward_backward", forwardBackward(modelId, 1)),
    await raw.post("forward_backward", forwardBackward(modelId, 2, { loss_fn: "hinge" })),
    await raw.post("optim_step", { model_id: modelId, seq_id: 3, adam_params: {} }),
    await raw.post("optim_step", { model_id: modelId, seq_id: 4, adam_params: {} }),
  ];
  const [, , refused, empty] = await Promise.all(
    responses.map((response) => raw.resultOf(response)),
  );
  expect(refused).toMatchObject({
    category: "user",
    error: expect.stringMatching(/step was not taken.*hinge.*dropped/u),
  });
  expect(empty).toMatchObject({ metrics: { grad_norm: 0 } });
});

it("goes on without a number that never came", async () => {
  await using hasty = await startServer({ gapMs: 300 });
  const client = rawClient(hasty.server);
  const modelId = await client.createModel();
  const late = await client.post("forward_backward", forwardBackward(modelId, 3));
  expect(await client.resultOf(late)).toMatchObject({
    error: expect.stringContaining("sequence number 1 did not come within 300 ms"),
  });
  const next = [
    await client.post("optim_step", { model_id: modelId, seq_id: 4, adam_params: {} }),
    await client.post("forward_backward", forwardBackward(modelId, 5)),
    await client.post("optim_step", { model_id: modelId, seq_id: 6, adam_params: {} }),
  ];
  const [partial, , whole] = await Promise.all(next.map((response) => client.resultOf(response)));
  expect(partial).toMatchObject({ error: expect.stringContaining("step was not taken") });
  expect((whole!["metrics"] as Record<string, number>)["grad_norm"]).toBeGreaterThan(0);
  const again = await client.post("forward_backward", forwardBackward(modelId, 8));
  expect(await client.resultOf(again)).toMatchObject({ category: "user" });
  // Whoever was told sends the batch again, and its step is taken.
  const told = [
    await client.post("forward_backward", forwardBackward(modelId, 9)),
    await client.post("optim_step", { model_id: modelId, seq_id: 10, adam_params: {} }),
  ];
  const [, taken] = await Promise.all(told.map((response) => client.resultOf(response)));
  expect((taken!["metrics"] as Record<string, number>)["grad_norm"]).toBeGreaterThan(0);
  const past = await client.post("save_weights", { model_id: modelId, seq_id: 2, path: "x" });
  expect(past.status).toBe(409);
  const wild = await client.post("save_weights", { model_id: modelId, seq_id: 1e9, path: "x" });
  expect(wild.status).toBe(409);
});

it("refuses bodies over the limit, and lets their turn pass", async () => {
  await using small = await startServer({ maxBodyMiB: 1 / 64, gapMs: 600_000 });
  const client = rawClient(small.server);
  const modelId = await client.createModel();
  const many = Array.from({ length: 400 }, () => datum({ target_tokens: targets, weights }));
  const large = forwardBackward(modelId, 1, { data: many });
  // As older clients write it: the turn stands at the end.
  const { model_id: id, seq_id: seq, ...rest } = large;
  const trailing = JSON.stringify({ ...rest, model_id: id, seq_id: seq });
  expect(trailing.length).toBeGreaterThan(2 ** 16);
  expect(await client.resultOf(await client.post("forward_backward", trailing))).toMatchObject({
    error: expect.stringContaining("larger than 16384 bytes"),
  });
  const step = await client.post("optim_step", { model_id: modelId, seq_id: 2, adam_params: {} });
  expect(await client.resultOf(step)).toMatchObject({ error: expect.stringContaining("larger") });
  const session = await client.post("create_session", { user_metadata: { x: "y".repeat(20_000) } });
  expect(session.status).toBe(413);
  expect(await session.json()).toMatchObject({ detail: expect.stringContaining("--max-body-mib") });
  const url = await small.server.listen();
  const overSocket = await fetch(`${url}/api/v1/create_session`, {
    method: "POST",
    headers: { "x-api-key": token },
    body: "x".repeat(100_000),
  });
  expect(overSocket.status).toBe(413);
});
