/** Completions: token ids, both kinds of log-probability, echo, stops, seeds, the events of a stream. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadRenderer } from "../../../src/models/renderers/load.ts";
import { modelPath } from "../local-server.ts";
import {
  account,
  datum,
  eventsOf,
  forwardBackward,
  startFireworks,
  type Json,
  type LocalFireworks,
  type SampledToken,
} from "./local-fireworks.ts";

let local: LocalFireworks;
let model: string;
let modelId: string;
beforeAll(async () => {
  local = await startFireworks();
  const made = await local.createModel();
  ({ modelId } = made);
  model = `accounts/${account}/trainingSessions/${made.sessionId}`;
});
afterAll(() => local[Symbol.asyncDispose]());

const prompt = [40, 41, 42];

const contentOf = (choice: Json): SampledToken[] => choice["logprobs"].content;
const idsOf = (choice: Json): number[] => choice["raw_output"].completion_token_ids;

/** Log-probability of every token after the first, from a forward pass. */
async function forwardLogprobs(tokens: number[], seqId: number): Promise<number[]> {
  const { forward_backward_input: input } = forwardBackward(modelId, seqId, [datum(tokens)]);
  const result = await local.call("forward", {
    model_id: modelId,
    seq_id: seqId,
    forward_input: input,
  });
  return result["loss_fn_outputs"][0].logprobs.data;
}

function expectClose(values: readonly number[], expected: readonly number[]): void {
  expect(values).toHaveLength(expected.length);
  for (const [i, value] of values.entries()) expect(value).toBeCloseTo(expected[i]!, 4);
}

it("reports the log-probabilities that a forward pass computes, of the prompt with echo", async () => {
  const [plain] = await local.complete(model);
  const [echoed] = await local.complete(model, { echo: true });
  const ids = idsOf(plain!);
  expect(contentOf(plain!).map((one) => one.token_id)).toEqual(ids);
  expect(plain!["raw_output"].prompt_token_ids).toEqual(prompt);
  expect(idsOf(echoed!)).toEqual([...prompt, ...ids]);
  const forward = await forwardLogprobs([...prompt, ...ids], 1);
  expectClose(
    contentOf(echoed!)
      .slice(1)
      .map((one) => one.logprob),
    forward,
  );
  expectClose(
    contentOf(plain!).map((one) => one.logprob),
    forward.slice(prompt.length - 1),
  );
  // At temperature 1 with nothing cut off, the model is the policy that samples.
  for (const one of contentOf(plain!)) expect(one.sampling_logprob).toBe(one.logprob);
  const [last] = await local.complete(model, { echo_last: 2 });
  expect(idsOf(last!)).toEqual([...prompt.slice(1), ...ids]);
  const [scored] = await local.complete(model, { echo: true, max_tokens: 0 });
  expect(idsOf(scored!)).toEqual(prompt);
  expectClose(
    contentOf(scored!)
      .slice(1)
      .map((one) => one.logprob),
    forward.slice(0, 2),
  );
});

it("separates the model's log-probability from that of a tempered policy", async () => {
  const [choice] = await local.complete(model, { temperature: 0.5, max_tokens: 1, seed: 11 });
  const [one] = contentOf(choice!);
  // Softmax of doubled log-probabilities, over the whole vocabulary.
  const all = await Promise.all(
    Array.from({ length: 512 }, async (_, id) => [...prompt, id]).map(async (tokens) =>
      datum(await tokens),
    ),
  );
  const { forward_backward_input: input } = forwardBackward(modelId, 2, all);
  const result = await local.call("forward", {
    model_id: modelId,
    seq_id: 2,
    forward_input: input,
  });
  const logprobs = (result["loss_fn_outputs"] as Json[]).map(
    ({ logprobs: row }) => row.data[2] as number,
  );
  const total = Math.log(logprobs.reduce((sum, value) => sum + Math.exp(2 * value), 0));
  expect(one!.logprob).toBeCloseTo(logprobs[one!.token_id]!, 4);
  expect(one!.sampling_logprob).toBeCloseTo(2 * logprobs[one!.token_id]! - total, 4);
});

it("gives no log-probability of a policy whose tail was cut off, rather than a wrong one", async () => {
  for (const cut of [{ top_p: 0.5 }, { top_k: 3 }]) {
    const [choice] = await local.complete(model, cut);
    for (const one of contentOf(choice!)) {
      expect(one.sampling_logprob).toBeNull();
      expect(one.logprob).toBeLessThan(0);
    }
  }
});

it("keeps to top_k, top_p, seeds and temperature 0", async () => {
  const [greedy] = await local.complete(model, { temperature: 0 });
  for (const cut of [{ top_k: 1 }, { top_p: 1e-6 }])
    expect(idsOf((await local.complete(model, { ...cut, seed: 99 }))[0]!)).toEqual(idsOf(greedy!));
  const seeded = async (seed: number): Promise<string> =>
    JSON.stringify(idsOf((await local.complete(model, { seed, temperature: 2 }))[0]!));
  expect(await seeded(1)).toBe(await seeded(1));
  const different = await Promise.all([1, 2, 3, 4].map((seed) => seeded(seed)));
  expect(new Set(different).size).toBeGreaterThan(1);
  const [other] = await local.complete(model, { seed: 2 ** 40 });
  expect(idsOf(other!).length).toBeGreaterThan(0);
});

it("ends at a stop string, whose tokens stay and whose text goes", async () => {
  const renderer = await loadRenderer(modelPath);
  const [whole] = await local.complete(model, { temperature: 0, max_tokens: 12 });
  const ids = idsOf(whole!);
  const text = renderer.decode(Int32Array.from(ids));
  expect(whole!["text"]).toBe(text);
  // Somewhere in the middle, where it was not before.
  const at = [...text].findIndex((char, i) => i > 0 && text.indexOf(char) === i);
  const stop = text[at]!;
  const [cut] = await local.complete(model, { temperature: 0, max_tokens: 12, stop });
  expect(cut!["finish_reason"]).toBe("stop");
  expect(cut!["text"]).toBe(text.slice(0, at));
  expect(idsOf(cut!)).toEqual(ids.slice(0, idsOf(cut!).length));
  expect(renderer.decode(Int32Array.from(idsOf(cut!)))).toContain(stop);
  expect(contentOf(cut!)).toHaveLength(idsOf(cut!).length);
  const [long] = await local.complete(model, { temperature: 0, max_tokens: 1 });
  expect(long!["finish_reason"]).toBe("length");
});

it("sends one event for each choice and usage with the last; without a stream all at once", async () => {
  const path = "/training/v1/serverless/inference/v1/completions";
  const body = {
    model,
    prompt,
    n: 3,
    max_tokens: 4,
    temperature: 1,
    seed: 5,
    perf_metrics_in_response: true,
  };
  const stream = await local.send("POST", path, { ...body, stream: true });
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  const events = eventsOf(await stream.text());
  expect(events.map(({ choices }) => choices[0].index)).toEqual([0, 1, 2]);
  expect(events.map(({ usage }) => usage !== undefined)).toEqual([false, false, true]);
  expect(events[0]!["choices"][0].logprobs).toBeNull();
  const count = events.reduce((sum, { choices }) => sum + idsOf(choices[0]).length, 0);
  expect(events[2]!["usage"]).toEqual({
    prompt_tokens: 3,
    completion_tokens: count,
    total_tokens: 3 + count,
  });
  expect(events[2]).toHaveProperty("perf_metrics");
  const json = (await (await local.send("POST", path, body)).json()) as Json;
  expect(json["choices"].map(idsOf)).toEqual(events.map(({ choices }) => idsOf(choices[0])));
});

it.each([
  [404, "accounts/other/trainingSessions/ts-1", {}],
  [404, "shop-tiny", {}],
  [404, "accounts/local/trainingSessions/ts-none", {}],
  [
    404,
    "accounts/local/trainingSamplers/checkpoints/local/run-00000000000000000000000000000000/x",
    {},
  ],
  [404, "accounts/local/trainingSamplers/checkpoints/local/../x", {}],
  [400, "accounts/local/trainingSamplers/accounts/fireworks/models/other", {}],
  [422, null, { prompt: "text" }],
  [422, null, { prompt: [] }],
  [422, null, { prompt: [1.5] }],
  [422, null, { prompt: [2 ** 40] }],
  [400, null, { prompt: [512] }],
  [400, null, { prompt: [-1] }],
  [400, null, { max_tokens: 600 }],
  [400, null, { max_tokens: 0 }],
  [422, null, { temperature: 1e-9 }],
  [422, null, { top_p: 0 }],
  [422, null, { n: 100_000 }],
  [422, null, { seed: -1 }],
  [422, null, { stop: [7] }],
  [400, null, { logit_bias: { 5: 100 } }],
  [400, null, { include_routing_matrix: true }],
  [400, null, { images: ["x"] }],
  [400, null, { frequency_penalty: 1 }],
])("refuses with %d before a stream begins: %s %j", async (status, name, more) => {
  const refused = local.complete(name ?? model, more);
  await expect(refused).rejects.toThrow(new RegExp(`^${status} .*"error":.*"message":`, "u"));
});

it("ignores what asks for nothing", async () => {
  const neutral = {
    frequency_penalty: 0,
    repetition_penalty: 1,
    min_p: 0,
    images: null,
    user: "x",
  };
  expect(await local.complete(model, neutral)).toHaveLength(1);
});

it("serves the next one where a client has left a completion", async () => {
  const path = "/training/v1/serverless/inference/v1/completions";
  const body = { model, prompt, max_tokens: 480, temperature: 3, stop: "\u0000", stream: true };
  const first = await local.send("POST", path, body);
  await first.body!.cancel();
  expect(await local.complete(model)).toHaveLength(1);
});
