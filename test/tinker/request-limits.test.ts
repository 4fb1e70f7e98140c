/** Requests that mean harm, or hold numbers that no client means. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer, token, type LocalServer } from "./local-server.ts";
import { rawClient, type Json, type RawClient } from "./raw-client.ts";

let local: LocalServer;
let raw: RawClient;
beforeAll(async () => {
  local = await startServer();
  raw = rawClient(local.server);
});
afterAll(() => local[Symbol.asyncDispose]());

it("decides by route who needs a key, whatever the names in a path are", async () => {
  const modelId = await raw.createModel();
  const names = ["archives", "healthz"];
  for (const [i, path] of names.entries()) {
    const saved = await raw.post("save_weights", { model_id: modelId, seq_id: i + 1, path });
    expect(await raw.resultOf(saved)).toMatchObject({ type: "save_weights" });
  }
  const routes = names.flatMap((name) => {
    const one = `training_runs/${modelId}/checkpoints/weights/${name}`;
    return [
      ["DELETE", one],
      ["POST", `${one}/publish`],
      ["DELETE", `${one}/publish`],
      ["PUT", `${one}/ttl`],
      ["GET", `${one}/archive`],
      ["GET", `${one}/external_weights_urls`],
    ] as const;
  });
  const others = [
    ["POST", "healthz"],
    ["GET", "training_runs/healthz"],
    ["GET", "sessions/healthz"],
    ["GET", "samplers/healthz"],
    ["GET", "x/archives/y"],
    ["POST", "archives/x"],
    ["GET", "archives"],
    ["GET", "checkpoints?x=/archives/"],
    ["POST", "sessions/archives/finish"],
  ] as const;
  for (const [method, route] of [...routes, ...others])
    expect((await raw.send(method, route)).status, `${method} ${route}`).toBe(401);
  expect((await raw.send("GET", "healthz")).status).toBe(200);
  expect((await raw.send("GET", "archives/guessed")).status).toBe(404);
  const wrong = await raw.send("GET", "sessions", { "x-api-key": `${token}x` });
  expect(wrong.status).toBe(401);
});

const input = { chunks: [{ type: "encoded_text", tokens: [40, 41] }] };

function train(modelId: string, seqId: number, tokens: number[], targets: number[]): Json {
  const data = [
    {
      model_input: { chunks: [{ type: "encoded_text", tokens }] },
      loss_fn_inputs: { target_tokens: { data: targets, dtype: "int64" } },
    },
  ];
  const forward = { data, loss_fn: "cross_entropy" };
  return { model_id: modelId, seq_id: seqId, forward_backward_input: forward };
}

it.each([
  ["2^32 + 5", 2 ** 32 + 5],
  ["6.9", 6.9],
  ["-1", -1],
  ["2^53", 2 ** 53],
  ["1e300", 1e300],
  ["the vocabulary's size", 512],
])("takes %s for no token", async (_, id) => {
  const { base_model: baseModel } = { base_model: "shop-tiny" };
  const modelId = await raw.createModel();
  const wrong = [train(modelId, 1, [40, 41], [41, id]), train(modelId, 2, [40, id], [41, 42])];
  for (const body of wrong) {
    const result = await raw.resultOf(await raw.post("forward_backward", body));
    expect(result).toMatchObject({
      category: "user",
      error: expect.stringMatching(/32 bits|vocab/u),
    });
  }
  const sample = await raw.post("asample", {
    base_model: baseModel,
    prompt: { chunks: [{ type: "encoded_text", tokens: [40, id] }] },
    sampling_params: { max_tokens: 2 },
  });
  expect([400, 422]).toContain(sample.status);
});

it.each([
  ["learning_rate", 1e308],
  ["learning_rate", -1e-4],
  ["eps", 0],
  ["eps", 1e308],
  ["weight_decay", 1e300],
  ["beta1", 1],
  ["beta2", 1.5],
  ["grad_clip_norm", -1],
])("steps with no %s of %d", async (name, value) => {
  const modelId = await raw.createModel();
  const step = { model_id: modelId, seq_id: 1, adam_params: { [name]: value } };
  const result = await raw.resultOf(await raw.post("optim_step", step));
  expect(result).toMatchObject({ category: "user", error: expect.stringContaining(name) });
  const text = JSON.stringify({ ...step, seq_id: 2 }).replace(`:${value}}`, ":1e999}");
  expect(text).toContain("1e999");
  const infinite = await raw.resultOf(await raw.post("optim_step", text));
  expect(infinite).toMatchObject({ category: "user", error: expect.stringContaining(name) });
});

it.each([
  ["temperature", 1e-300],
  ["temperature", 1e300],
  ["top_p", 0],
  ["max_tokens", 0],
  ["seed", -1],
  ["seed", 1.5],
])("samples with no %s of %d", async (name, value) => {
  const { status } = await raw.post("asample", {
    base_model: "shop-tiny",
    prompt: input,
    sampling_params: { max_tokens: 2, [name]: value },
  });
  expect([400, 422]).toContain(status);
});

it.each([
  ["columns outside", { shape: [2, 2], crow: [0, 1, 2], col: [0, 7] }],
  ["rows that shrink", { shape: [2, 2], crow: [0, 2, 1], col: [0, 1] }],
  ["a shape of 2^60 cells", { shape: [2 ** 30, 2 ** 30], crow: [0, 1, 2], col: [0, 1] }],
  ["a negative shape", { shape: [-1, 2], crow: [], col: [0, 1] }],
])("densifies no sparse tensor with %s", async (_, { shape, crow, col }) => {
  const modelId = await raw.createModel();
  const body = train(modelId, 1, [40, 41], [41, 42]);
  const sparse = {
    data: [41, 42],
    dtype: "int64",
    shape,
    sparse_crow_indices: crow,
    sparse_col_indices: col,
  };
  const text = JSON.stringify(body).replace(
    '{"data":[41,42],"dtype":"int64"}',
    JSON.stringify(sparse),
  );
  expect(text).toContain("sparse_col_indices");
  expect(await raw.resultOf(await raw.post("forward_backward", text))).toMatchObject({
    category: "user",
    error: expect.stringContaining("sparse"),
  });
});

it("answers metadata and lifetimes beyond reason with a sentence", async () => {
  const metadata = await raw.post("create_session", { user_metadata: { x: "y".repeat(70_000) } });
  expect(metadata.status).toBe(422);
  const modelId = await raw.createModel();
  const body = { model_id: modelId, seq_id: 1, path: "a", ttl_seconds: 1e15 };
  expect(await raw.resultOf(await raw.post("save_weights", body))).toMatchObject({
    category: "user",
    error: expect.stringContaining("ttl_seconds"),
  });
});
