/** What the server owes to other clients than ours: requests as they come over the wire. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TinkerClient } from "../../src/tinker-api/client.ts";
import type { SamplingClient } from "../../src/tinker-api/sampling-client.ts";
import { fetchOf, startServer, token, type Fetch, type LocalServer } from "./local-server.ts";

type Json = Readonly<Record<string, unknown>>;

let local: LocalServer;
let client: TinkerClient;
beforeAll(async () => {
  local = await startServer();
  client = await local.connect();
});
afterAll(async () => {
  client.close();
  await local[Symbol.asyncDispose]();
});

/** `body` as text keeps digits that JavaScript's numbers lose. */
async function post(route: string, body: object | string): Promise<Response> {
  return local.server.fetch(
    new Request(`http://tinker.test/api/v1/${route}`, {
      method: "POST",
      headers: { "x-api-key": token },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
}

async function resultOf(response: Response): Promise<Json> {
  const { request_id: id } = (await response.json()) as Json;
  for (;;) {
    const json = (await (await post("retrieve_future", { request_id: id })).json()) as Json;
    if (json["type"] !== "try_again") return json;
  }
}

function sampleBody(sampler: string, maxTokens: number): object {
  return {
    sampling_session_id: sampler,
    prompt: { chunks: [{ type: "encoded_text", tokens: [40, 41] }] },
    sampling_params: { max_tokens: maxTokens, stop: [], seed: 1 },
  };
}

it("lets a refused request take its turn, so that the next one is not held up", async () => {
  const { modelId } = await client.createModel({ baseModel: "shop-tiny", rank: 2 });
  const wrong = await post("optim_step", {
    model_id: modelId,
    seq_id: 1,
    adam_params: { learning_rate: -1 },
  });
  const right = await post("optim_step", { model_id: modelId, seq_id: 2, adam_params: {} });
  expect(await resultOf(wrong)).toMatchObject({
    category: "user",
    error: expect.stringContaining("adam_params.learning_rate"),
  });
  expect(await resultOf(right)).toMatchObject({ metrics: { grad_norm: 0 } });
});

it("tells sampling requests apart whose numbers are beyond JavaScript's", async () => {
  const { id } = await client.createSampler({ baseModel: "shop-tiny" });
  const text = (seq: string): string =>
    `{"seq_id":${seq},${JSON.stringify(sampleBody(id, 2)).slice(1)}`;
  const ids: unknown[] = [];
  for (const seq of ["900000000000000001", "900000000000000002", "900000000000000001"])
    ids.push(((await (await post("asample", text(seq))).json()) as Json)["request_id"]);
  expect(ids[1]).not.toBe(ids[0]);
  expect(ids[2]).toBe(ids[0]);
});

it("numbers the clients of a sampler", async () => {
  const { id } = await client.createSampler({ baseModel: "shop-tiny" });
  const join = async (): Promise<unknown> => {
    const response = await post("join_sampling_session", { sampling_session_id: id });
    return ((await response.json()) as Json)["client_counter"];
  };
  expect([await join(), await join()]).toEqual([1, 2]);
});

it("stops drawing a sample that was cancelled", async () => {
  const { id } = await client.createSampler({ baseModel: "shop-tiny" });
  const response = await post("asample", sampleBody(id, 500));
  const { request_id: request } = (await response.clone().json()) as Json;
  expect((await post("cancel_future", { request_id: request })).status).toBe(204);
  expect(await resultOf(response)).toMatchObject({ error: "The request was cancelled." });
  // Of others, and of those that have ended, it knows nothing.
  expect((await post("cancel_future", { request_id: "none" })).status).toBe(204);
});

it("is told by our client of a sample that nobody waits for any more", async () => {
  const paths: string[] = [];
  const fetch: Fetch = (input, init) => {
    paths.push(new URL(input).pathname);
    return fetchOf(local.server)(input, init);
  };
  const own = await local.connect({ fetch });
  const sampler = await own.createSampler({ baseModel: "shop-tiny" });
  const abort = new AbortController();
  const { signal } = abort;
  const sample = sampler.sample(Int32Array.of(40, 41), { maxTokens: 500, stop: [], signal });
  await expect.poll(() => paths).toContain("/api/v1/retrieve_future");
  abort.abort(new Error("not wanted"));
  await expect(sample).rejects.toThrow("not wanted");
  await expect.poll(() => paths).toContain("/api/v1/cancel_future");
  own.close();
});

it("keeps the weights of few samplers, and reads those of checkpoints again", async () => {
  await using small = await startServer({ maxSamplers: 2 });
  await using own = await small.connect();
  const model = await own.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  const path = await model.saveForSampler("kept");
  const byPath = await own.createSampler({ modelPath: path });
  const base = await own.createSampler({ baseModel: "shop-tiny" });
  const ofMoment = await model.createSampler();
  const wanted = { maxTokens: 3, seed: 1, stop: [] };
  const sample = (sampler: SamplingClient) => sampler.sample(Int32Array.of(40, 41), wanted);
  const expected = (await sample(byPath)).sequences;
  expect((await sample(ofMoment)).sequences).toEqual(expected);
  for (let i = 0; i < 2; i++) await model.createSampler();
  expect((await sample(byPath)).sequences).toEqual(expected);
  expect((await sample(base)).sequences).toEqual(expected);
  await expect(sample(ofMoment)).rejects.toThrow("newer ones took its place");
});
