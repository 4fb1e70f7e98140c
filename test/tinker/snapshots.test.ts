/**
 * Frozen snapshots: what a server returned for a name samples the weights of that moment, after further steps and more
 * snapshots than are kept in memory.
 */
import { expect, it } from "vitest";
import { startServer } from "./local-server.ts";
import { rawClient, type Json as RawJson } from "./raw-client.ts";

const data = [
  {
    model_input: { chunks: [{ type: "encoded_text", tokens: [40, 41, 42, 43] }] },
    loss_fn_inputs: { target_tokens: { data: [41, 42, 43, 44], dtype: "int64", shape: [4] } },
  },
];

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
    await raw.resultOf(
      await raw.post("forward_backward", {
        ...common,
        seq_id: seq + 2,
        forward_backward_input: { data, loss_fn: "cross_entropy" },
      }),
    );
    const step = {
      ...common,
      seq_id: seq + 3,
      type: "optim_step",
      adam_params: { learning_rate: 0.05 },
    };
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
