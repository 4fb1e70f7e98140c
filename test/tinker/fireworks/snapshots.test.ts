/**
 * Frozen snapshots: what a server returned for a name samples the weights of that moment for ever,
 * after further steps, a load, more snapshots than are kept in memory, and a restart.
 */
import { expect, it } from "vitest";
import { startServer } from "../local-server.ts";
import { rawClient, type Json as RawJson } from "../raw-client.ts";
import {
  account,
  datum,
  forwardBackward,
  optimStep,
  snapshot,
  startFireworks,
  type Json,
  type LocalFireworks,
} from "./local-fireworks.ts";

const data = [datum([40, 41, 42, 43, 44])];
/** Greedy, so that tokens as well as their log-probabilities are those of the weights. */
const greedy = { temperature: 0, echo: true };

function scoresOf([choice]: readonly Json[]): unknown {
  return choice!["logprobs"].content.map((one: Json) => [one["token_id"], one["logprob"]]);
}

async function train(local: LocalFireworks, modelId: string, seqId: number): Promise<void> {
  await local.call("forward_backward", forwardBackward(modelId, seqId, data));
  const step = await local.call("optim_step", optimStep(modelId, seqId + 1));
  expect(step["metrics"].grad_norm).toBeGreaterThan(0);
}

it("a Fireworks snapshot samples its weights for ever", async () => {
  await using local = await startFireworks({ maxSamplers: 1 });
  const { modelId, sessionId } = await local.createModel();
  const prefix = `accounts/${account}/trainingSessions/${sessionId}`;
  const paths: string[] = [];
  const scores: unknown[] = [];
  let seq = 1;
  for (let i = 0; i < 3; i++) {
    const { path } = await local.call("save_weights_for_sampler", snapshot(modelId, seq, `s-${i}`));
    expect(path).toBe(`${account}/${modelId.split(":")[0]}/s-${i}`);
    paths.push(path);
    scores.push(scoresOf(await local.complete(`${prefix}/checkpoints/${path}`, greedy)));
    await train(local, modelId, seq + 1);
    seq += 3;
  }
  // The live weights, as a forward pass sees them, have moved with every step.
  expect(new Set(scores.map((one) => JSON.stringify(one))).size).toBe(3);
  const state = { model_id: modelId, path: "st", seq_id: seq, overwrite: false };
  const saved = await local.call("save_weights", state);
  const load = { model_id: modelId, path: saved["path"], optimizer: true, seq_id: seq + 1 };
  expect(await local.call("load_weights", load)).toEqual({
    type: "load_weights",
    path: saved["path"],
  });
  const expectUnchanged = async (server: LocalFireworks, root: string): Promise<void> => {
    for (const [i, path] of paths.entries())
      expect(scoresOf(await server.complete(`${root}/checkpoints/${path}`, greedy))).toEqual(
        scores[i],
      );
  };
  await expectUnchanged(local, prefix);
  // The base model is the first snapshot: its factors added nothing yet.
  expect(scoresOf(await local.complete(prefix, greedy))).toEqual(scores[0]);
  // A name is given once.
  const again = await local.call("save_weights_for_sampler", snapshot(modelId, seq + 2, "s-0"));
  expect(again).toMatchObject({
    category: "user",
    error: expect.stringContaining("already exists"),
  });
  // Without its session, and from a server that knows no more than the folder.
  await local.send("DELETE", `/v1/${prefix}`);
  await expect(local.complete(`${prefix}/checkpoints/${paths[0]}`)).rejects.toThrow("410");
  await expectUnchanged(local, `accounts/${account}/trainingSamplers`);
  await using restarted = await startFireworks({ folder: local.folder });
  const route = { training_run: `accounts/${account}/trainingRuns/${modelId.split(":")[0]}` };
  expect((await restarted.post("create_sampling_route", route)).status).toBe(200);
  await expectUnchanged(restarted, `accounts/${account}/trainingSamplers`);
});

it("a Tinker snapshot samples its weights for ever: by path, and without one", async () => {
  await using local = await startServer({ maxSamplers: 3 });
  const raw = rawClient(local.server);
  const sessionId = await raw.createSession();
  const modelId = await raw.createModel({ sessionId });
  const sample = async (sampler: string): Promise<RawJson> =>
    raw.resultOf(
      await raw.post("asample", {
        sampling_session_id: sampler,
        prompt: { chunks: [{ type: "encoded_text", tokens: [40, 41, 42] }] },
        sampling_params: { max_tokens: 6, temperature: 0 },
        prompt_logprobs: true,
      }),
    );
  const samplers: string[] = [];
  const samples: RawJson[] = [];
  let seq = 1;
  for (let i = 0; i < 2; i++) {
    const common = { model_id: modelId };
    const named = await raw.post("save_weights_for_sampler", {
      ...common,
      seq_id: seq,
      path: `s-${i}`,
    });
    const { path } = await raw.resultOf(named);
    const session = { session_id: sessionId, sampling_session_seq_id: 10 + i, model_path: path };
    const made = (await (await raw.post("create_sampling_session", session)).json()) as RawJson;
    const body = { ...common, seq_id: seq + 1, sampling_session_seq_id: 20 + i };
    const unnamed = await raw.resultOf(await raw.post("save_weights_for_sampler", body));
    for (const id of [made["sampling_session_id"], unnamed["sampling_session_id"]]) {
      samplers.push(String(id));
      samples.push(await sample(String(id)));
    }
    await raw.resultOf(await raw.post("forward_backward", forwardBackward(modelId, seq + 2, data)));
    const step = { ...optimStep(modelId, seq + 3) };
    expect(await raw.resultOf(await raw.post("optim_step", step))).toMatchObject({
      metrics: { grad_norm: expect.any(Number) },
    });
    seq += 4;
  }
  expect(samples[1]).toEqual(samples[0]);
  expect(samples[3]).toEqual(samples[2]);
  expect(samples[2]!["prompt_logprobs"]).not.toEqual(samples[0]!["prompt_logprobs"]);
  // The first unnamed one gave way to newer ones; those with a path are read again.
  for (const i of [0, 2, 3]) expect(await sample(samplers[i]!)).toEqual(samples[i]);
});
