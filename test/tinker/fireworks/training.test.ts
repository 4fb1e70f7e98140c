/** Numbers of training: those of the Tinker server, normalized, at any alpha; and what is refused. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../local-server.ts";
import { rawClient } from "../raw-client.ts";
import {
  baseModel,
  datum,
  forwardBackward,
  optimStep,
  snapshot,
  startFireworks,
  type Json,
  type LocalFireworks,
} from "./local-fireworks.ts";

let local: LocalFireworks;
beforeAll(async () => {
  local = await startFireworks({ maxModels: 100 });
});
afterAll(() => local[Symbol.asyncDispose]());

const policy = [
  datum([40, 41, 42, 43], { logprobs: [0, -2, -1], advantages: [0, 1, -0.5] }),
  datum([50, 51, 52], { logprobs: [-3, -2], advantages: [0, 2] }),
  datum([60, 61], { logprobs: [-3], advantages: [0] }),
];

async function norm(data: Json[], loss: string, more: Json = {}, weights?: Json): Promise<number> {
  const { modelId } = await local.createModel();
  const body = forwardBackward(modelId, 1, data, loss, weights);
  expect(await local.call("forward_backward", body)).toHaveProperty("metrics");
  return (await local.call("optim_step", optimStep(modelId, 2, more)))["metrics"].grad_norm;
}

it.each([
  ["importance_sampling", undefined],
  ["ppo", { clip_low_threshold: 0.8, clip_high_threshold: 1.2 }],
  ["cispo", { clip_low_threshold: 0.5, clip_high_threshold: 2 }],
  ["dro", { beta: 0.1 }],
] as const)("computes %s as the Tinker server does", async (loss, config) => {
  await using tinker = await startServer();
  const raw = rawClient(tinker.server);
  const session = {
    session_id: await raw.createSession(),
    model_seq_id: 0,
    base_model: "shop-tiny",
  };
  const made = await raw.post("create_model", { ...session, lora_config: { rank: 2, seed: 7 } });
  const { model_id: theirs } = await raw.resultOf(made);
  const { modelId: ours } = await local.createModel();
  for (let seq = 1; seq < 6; seq += 2) {
    const [a, b] = [
      await raw.resultOf(
        await raw.post(
          "forward_backward",
          forwardBackward(String(theirs), seq, policy, loss, config),
        ),
      ),
      await local.call("forward_backward", forwardBackward(ours, seq, policy, loss, config)),
    ];
    expect(b).toEqual(a);
    const step = await raw.post("optim_step", optimStep(String(theirs), seq + 1));
    const own = await local.call("optim_step", optimStep(ours, seq + 1));
    expect(own).toEqual(await raw.resultOf(step));
  }
});

it("divides gradients by the tokens, or the sequences, that have a loss", async () => {
  const normalized = (mode: string): Json => ({ grad_accumulation_normalization: mode });
  const sum = await norm(policy, "importance_sampling");
  expect(await norm(policy, "importance_sampling", normalized("none"))).toBe(sum);
  // Three tokens with an advantage, in two of the three sequences.
  const byTokens = await norm(policy, "importance_sampling", normalized("num_loss_tokens"));
  expect(byTokens / sum).toBeCloseTo(1 / 3, 5);
  const bySequences = await norm(policy, "importance_sampling", normalized("num_sequences"));
  expect(bySequences / sum).toBeCloseTo(1 / 2, 5);
  const weighted = [datum([40, 41, 42, 43], { weights: [0, 1, 0.5] }), datum([50, 51])];
  const whole = await norm(weighted, "cross_entropy");
  const mean = await norm(weighted, "cross_entropy", normalized("num_loss_tokens"));
  expect(mean / whole).toBeCloseTo(1 / 3, 5);
});

it("counts anew after a step, and over all requests before it", async () => {
  const { modelId } = await local.createModel();
  const data = [datum([40, 41, 42, 43])];
  const byTokens = { grad_accumulation_normalization: "num_loss_tokens" };
  const still = { ...byTokens, adam_params: { learning_rate: 0 } };
  const norms: number[] = [];
  let seq = 1;
  for (const times of [1, 2, 1]) {
    for (let i = 0; i < times; i++)
      await local.call("forward_backward", forwardBackward(modelId, seq++, data));
    norms.push(
      (await local.call("optim_step", optimStep(modelId, seq++, still)))["metrics"].grad_norm,
    );
  }
  // Twice the same sum over twice the tokens.
  expect(norms[1]).toBeCloseTo(norms[0]!, 6);
  expect(norms[2]).toBe(norms[0]);
});

it("scales an adapter by alpha over rank", async () => {
  const data = [datum([40, 41, 42, 43])];
  // The factors that are 0 at first get gradients in proportion to the scale; the others none.
  const normAt = async (alpha: number): Promise<number> => {
    const made = await local.createModel(undefined, { lora_config: { rank: 2, alpha, seed: 7 } });
    await local.call("forward_backward", forwardBackward(made.modelId, 1, data));
    return (await local.call("optim_step", optimStep(made.modelId, 2)))["metrics"].grad_norm;
  };
  const [usual, half] = [await normAt(32), await normAt(16)];
  expect(half / usual).toBeCloseTo(0.5, 5);
});

it("samples a snapshot with its own alpha", async () => {
  const { modelId, sessionId } = await local.createModel(undefined, {
    lora_config: { rank: 2, alpha: 4, seed: 7 },
  });
  const data = [datum([40, 41, 42, 43])];
  await local.call("forward_backward", forwardBackward(modelId, 1, data));
  await local.call("optim_step", optimStep(modelId, 2));
  const { path } = await local.call("save_weights_for_sampler", snapshot(modelId, 3, "a"));
  const model = `accounts/local/trainingSessions/${sessionId}/checkpoints/${path}`;
  const [choice] = await local.complete(model, {
    prompt: [40, 41, 42, 43],
    echo: true,
    max_tokens: 0,
  });
  const { forward_backward_input: input } = forwardBackward(modelId, 4, data);
  const forward = await local.call("forward", {
    model_id: modelId,
    seq_id: 4,
    forward_input: input,
  });
  const scored = choice!["logprobs"].content.slice(1).map((one: Json) => one["logprob"]);
  for (const [i, value] of forward["loss_fn_outputs"][0].logprobs.data.entries())
    expect(scored[i]).toBeCloseTo(value, 4);
});

it("keeps a base_only model as it is, and reads it", async () => {
  const { sessionId, modelId } = await local.createModel();
  const reference = await local.createModel(sessionId, { seq: 1, base_only: true });
  const data = [datum([40, 41, 42, 43])];
  const forward = async (id: string, seq: number): Promise<Json> => {
    const { forward_backward_input: input } = forwardBackward(id, seq, data);
    return local.call("forward", { model_id: id, seq_id: seq, forward_input: input });
  };
  expect(await forward(reference.modelId, 1)).toEqual(await forward(modelId, 1));
  const refused = [
    ["forward_backward", forwardBackward(reference.modelId, 2, data)],
    ["optim_step", optimStep(reference.modelId, 3)],
    ["save_weights_for_sampler", snapshot(reference.modelId, 4, "x")],
  ] as const;
  for (const [route, body] of refused)
    expect(await local.call(route, body)).toMatchObject({
      category: "user",
      error: expect.stringContaining("base_only"),
    });
});

it.each([
  ["reinforce", undefined, "no loss"],
  ["dapo", { eps_clip_c: 3 }, "no loss"],
  ["dppo", undefined, "no loss"],
  ["importance_sampling", { ratio_log_cap: 20 }, "ratio_log_cap"],
  ["ppo", { clip_low_threshold: 2 }, "excludes 1"],
  ["gspo", undefined, "sequence_ratio_mask"],
  ["constructor", undefined, "no loss"],
] as const)("refuses %s %j clearly, and the step after it", async (loss, config, why) => {
  const { modelId } = await local.createModel();
  const body = forwardBackward(modelId, 1, policy, loss, config);
  expect(await local.call("forward_backward", body)).toMatchObject({
    category: "user",
    error: expect.stringContaining(why),
  });
  const step = await local.call("optim_step", optimStep(modelId, 2));
  expect(step).toMatchObject({ category: "user", error: expect.stringContaining("not taken") });
});

it("refuses what the loss does not read in training, and reads over it in a forward pass", async () => {
  const { modelId } = await local.createModel();
  const body = forwardBackward(modelId, 1, policy);
  expect(await local.call("forward_backward", body)).toMatchObject({ category: "user" });
  const { forward_backward_input: input } = forwardBackward(modelId, 2, policy);
  const result = await local.call("forward", {
    model_id: modelId,
    seq_id: 2,
    forward_input: input,
  });
  expect(result["loss_fn_outputs"]).toHaveLength(3);
  const masked = [datum([40, 41], { mask: [1] })];
  const { forward_backward_input: third } = forwardBackward(modelId, 3, masked);
  const mask = await local.call("forward", { model_id: modelId, seq_id: 3, forward_input: third });
  expect(mask).toMatchObject({ category: "user", error: expect.stringContaining('"mask"') });
});

it.each([
  [{ base_model: "accounts/fireworks/models/llama-9" }, "This server has"],
  [{ lora_config: { rank: 0 } }, "from 1 to"],
  [{ lora_config: { rank: 1e9 } }, "from 1 to"],
  [{ lora_config: { rank: 2, alpha: 0 } }, "alpha"],
  [{ lora_config: { rank: 2, alpha: 1e300 } }, "alpha"],
  [{ lora_config: { rank: 2, init_method: "nora" } }, "nora"],
  [{ lora_config: { rank: 2, train_mlp: false, train_attn: false } }, "neither"],
  [{ lora_config: null }, "base_only"],
  [{ base_only: true, lora_config: { rank: 2 } }, "base_only"],
  [{ projection_head_dim: 5 }, "projection_head_dim"],
  [{ model_seq_id: -1 }, "model_seq_id"],
  [{ model_seq_id: 70_000 }, "model_seq_id"],
  [{ session_id: "ts-none" }, "no session"],
])("makes no model of %j", async (more, why) => {
  const body = { session_id: await local.createSession(), model_seq_id: 0, base_model: baseModel };
  const result = await local.call("create_model", { ...body, lora_config: { rank: 2 }, ...more });
  expect(JSON.stringify(result)).toContain(why);
  expect(result).not.toHaveProperty("model_id");
});

it.each([
  ["save_weights", { path: "UPPER" }],
  ["save_weights", { path: "../up" }],
  ["save_weights", { path: "a".repeat(64) }],
  ["save_weights", { path: "x", overwrite: true }],
  ["save_weights_for_sampler", { path: "x", ttl_seconds: 60 }],
  ["save_weights_for_sampler", { path: "x", checkpoint_type: "merged_base" }],
  ["save_weights_for_sampler", {}],
  ["load_weights", { path: "local/run-1/x", optimizer: true }],
  ["load_weights", { path: "other/run-00000000000000000000000000000000/x" }],
  ["load_weights", { path: "none" }],
  ["load_adapter", { adapter_path: "accounts/local/models/../../x" }],
  ["optim_step", { adam_params: { learning_rate: 1e308 } }],
  ["optim_step", { adam_params: {}, grad_accumulation_normalization: "mean" }],
  ["forward_backward", { forward_backward_input: { data: [], loss_fn: "cross_entropy" } }],
  ["forward_backward", '{"forward_backward_input":{"data":[NaN]}'],
])("refuses in its turn: %s %j", async (route, more) => {
  const { modelId } = await local.createModel();
  const common = { model_id: modelId, seq_id: 1 };
  const body =
    typeof more === "string"
      ? `{"model_id":"${modelId}","seq_id":1,${more.slice(1)}}`
      : { ...common, ...more };
  const refused = await local.call(route, body);
  expect(refused).toMatchObject({ category: "user", error: expect.any(String) });
  // Its number is used up, so that the next one is not held up.
  const next = await local.call("save_weights", { model_id: modelId, path: "next", seq_id: 2 });
  expect(next).toMatchObject({ type: "save_weights" });
});

it("limits bodies as the Tinker server does", async () => {
  await using small = await startFireworks({ maxBodyMiB: 1 });
  const large = JSON.stringify({ tags: ["x".repeat(2 ** 20 + 1)] });
  const response = await small.post("create_session", large);
  expect([response.status, await response.json()]).toEqual([
    413,
    { error: expect.objectContaining({ message: expect.stringContaining("--max-body-mib") }) },
  ]);
  for (const body of ["", "null", "[]", '{"session_id":', '{"user_metadata":7}'])
    expect((await small.post("create_session", body)).status).toBe(422);
});
