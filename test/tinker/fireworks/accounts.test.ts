/** Accounts: sessions that are deleted, their checkpoints, and models made of them. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
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
  local = await startFireworks({ maxModels: 3 });
});
afterAll(() => local[Symbol.asyncDispose]());

const data = [datum([40, 41, 42, 43])];
const root = "/v1/accounts/local/trainingSessions";

async function jsonOf(response: Response): Promise<Json> {
  return { status: response.status, ...((await response.json()) as Json) };
}

async function forwardOf(modelId: string, seqId: number): Promise<number[]> {
  const { forward_backward_input: input } = forwardBackward(modelId, seqId, data);
  const result = await local.call("forward", {
    model_id: modelId,
    seq_id: seqId,
    forward_input: input,
  });
  return result["loss_fn_outputs"][0].logprobs.data;
}

it("frees what a deleted session had, and deletes it again without a complaint", async () => {
  for (let i = 0; i < 8; i++) {
    const { sessionId, modelId } = await local.createModel();
    await local.call("forward_backward", forwardBackward(modelId, 1, data));
    for (let again = 0; again < 2; again++)
      expect(await jsonOf(await local.send("DELETE", `${root}/${sessionId}`))).toEqual({
        status: 200,
      });
    const beat = await local.post("session_heartbeat", { session_id: sessionId });
    expect(beat.status).toBe(410);
    const late = await local.post("optim_step", optimStep(modelId, 2));
    expect(late.status).toBe(404);
  }
  const unknown = await jsonOf(await local.send("DELETE", `${root}/ts-unknown`));
  expect(unknown).toMatchObject({
    status: 404,
    code: 5,
    message: expect.stringContaining("ts-unknown"),
  });
  const other = await local.send("DELETE", "/v1/accounts/other/trainingSessions/ts-unknown");
  expect(await jsonOf(other)).toMatchObject({
    status: 404,
    message: expect.stringContaining('"local"'),
  });
});

it("lists checkpoints page by page, promotes a snapshot, and starts another run from it", async () => {
  const { sessionId, modelId } = await local.createModel();
  const run = modelId.split(":")[0]!;
  await local.call("forward_backward", forwardBackward(modelId, 1, data));
  await local.call("optim_step", optimStep(modelId, 2));
  await local.call("save_weights_for_sampler", snapshot(modelId, 3, "snap"));
  await local.call("save_weights", { model_id: modelId, path: "state", seq_id: 4 });
  const parent = `${root}/${sessionId}`;
  const pages: Json[] = [];
  for (let token = ""; pages.length < 5; token = pages.at(-1)!["nextPageToken"]) {
    const query = `pageSize=1${token === "" ? "" : `&pageToken=${token}`}`;
    pages.push(await jsonOf(await local.send("GET", `${parent}/checkpoints?${query}`)));
    if (pages.at(-1)!["nextPageToken"] === "") break;
  }
  const rows = pages.flatMap((page) => page["trainingSessionCheckpoints"] as Json[]);
  const prefix = parent.slice("/v1/".length);
  expect(rows.map(({ name, promotable }) => [name, promotable])).toEqual([
    [`${prefix}/checkpoints/${run}.snap`, true],
    [`${prefix}/checkpoints/${run}.state`, false],
  ]);
  // The name from the list is one to sample from.
  expect(await local.complete(rows[0]!["name"])).toHaveLength(1);

  const promote = async (name: string, model: string, base = "shop-tiny"): Promise<Json> => {
    const body = { output_model: `accounts/local/models/${model}`, base_model: base };
    return jsonOf(await local.send("POST", `/v1/${name}:promote`, body));
  };
  expect(await promote(rows[0]!["name"], "mine")).toMatchObject({
    status: 200,
    model: { state: "READY", kind: "HF_PEFT_ADDON", peftDetails: { r: 2 } },
  });
  const folder = join(local.folder, "models", "mine");
  const config = JSON.parse(await readFile(join(folder, "adapter_config.json"), "utf8")) as Json;
  expect(config).toMatchObject({ peft_type: "LORA", r: 2, lora_alpha: 32 });
  expect(existsSync(join(folder, "adapter_model.safetensors"))).toBe(true);
  expect(await promote(rows[0]!["name"], "mine")).toMatchObject({ status: 409, code: 6 });
  expect(await promote(rows[1]!["name"], "state")).toMatchObject({ status: 400 });
  expect(await promote(rows[0]!["name"], "../up")).toMatchObject({ status: 400 });
  expect(await promote(rows[0]!["name"], "other", "gpt-9")).toMatchObject({ status: 400 });
  expect(await promote(`${prefix}/checkpoints/none`, "none")).toMatchObject({ status: 404 });

  const learned = await forwardOf(modelId, 5);
  const fresh = await local.createModel(undefined, {
    lora_config: { rank: 2, alpha: 32, seed: 8 },
  });
  expect(await forwardOf(fresh.modelId, 1)).not.toEqual(learned);
  const adapter = {
    model_id: fresh.modelId,
    seq_id: 2,
    adapter_path: "accounts/local/models/mine",
  };
  expect(await local.call("load_adapter", adapter)).toEqual({
    type: "load_adapter",
    model_id: fresh.modelId,
    adapter_path: adapter.adapter_path,
  });
  expect(await forwardOf(fresh.modelId, 3)).toEqual(learned);
  const remote = { ...adapter, seq_id: 4, adapter_path: "gs://bucket/adapter" };
  expect(await local.call("load_adapter", remote)).toMatchObject({ category: "user" });
  const foreign = {
    model_id: fresh.modelId,
    seq_id: 5,
    path: `local/${run}/state`,
    optimizer: true,
  };
  expect(await local.call("load_weights", foreign)).toMatchObject({
    category: "user",
    error: expect.stringContaining("another run"),
  });
  await local.send("DELETE", parent);
  // Checkpoints outlive their session.
  const after = await jsonOf(await local.send("GET", `${parent}/checkpoints`));
  expect(after["trainingSessionCheckpoints"]).toHaveLength(2);
});

it("says of an unknown route where the right ones are", async () => {
  const gateway = await jsonOf(await local.send("GET", "/api/v1/healthz"));
  expect(gateway).toMatchObject({
    status: 404,
    error: { code: "NOT_FOUND", message: expect.stringContaining("/training/v1/serverless") },
  });
});
