/** The same request twice has one effect, and requests take effect in the order of their numbers. */
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  datum,
  forwardBackward,
  key,
  optimStep,
  startFireworks,
  type Json,
  type LocalFireworks,
} from "./local-fireworks.ts";

let local: LocalFireworks;
beforeAll(async () => {
  local = await startFireworks({ gapMs: 300 });
});
afterAll(() => local[Symbol.asyncDispose]());

const data = [datum([40, 41, 42, 43])];

async function idOf(response: Response): Promise<string> {
  return ((await response.json()) as Json)["request_id"];
}

async function logprobs(modelId: string, seqId: number): Promise<number[]> {
  const body = forwardBackward(modelId, seqId, data);
  const { forward_backward_input: input, ...rest } = body;
  const result = await local.call("forward", { ...rest, forward_input: input });
  return result["loss_fn_outputs"][0].logprobs.data;
}

it("opens one session, and makes one model, for a request that is repeated", async () => {
  const headers = { "x-idempotency-key": "open" };
  const replies = await Promise.all([1, 2].map(() => local.post("create_session", {}, headers)));
  const [first, second] = await Promise.all(replies.map((one) => one.json() as Promise<Json>));
  expect(second).toEqual(first);
  const other = await local.post("create_session", {}, { "x-idempotency-key": "open-2" });
  expect(((await other.json()) as Json)["session_id"]).not.toBe(first!["session_id"]);
  const used = await local.post("create_session", { tags: ["x"] }, headers);
  expect([used.status, await used.json()]).toEqual([
    409,
    { error: expect.objectContaining({ message: expect.stringContaining("idempotency key") }) },
  ]);
  const sessionId = first!["session_id"] as string;
  const one = await local.createModel(sessionId, { seq: 0 });
  expect(await local.createModel(sessionId, { seq: 0 })).toEqual(one);
  expect((await local.createModel(sessionId, { seq: 1 })).modelId).toMatch(/:train:1$/u);
  const changed = await local.post("create_model", {
    session_id: sessionId,
    model_seq_id: 0,
    base_model: "shop-tiny",
    lora_config: { rank: 4 },
  });
  expect(changed.status).toBe(409);
});

it("steps once for a step that is repeated, with and without a number", async () => {
  const [a, b, c] = await Promise.all([1, 2, 3].map(() => local.createModel()));
  for (const { modelId } of [a!, b!, c!])
    await local.call("forward_backward", forwardBackward(modelId, 1, data));
  await local.call("optim_step", optimStep(a!.modelId, 2));
  const expected = await logprobs(a!.modelId, 3);

  const step = optimStep(b!.modelId, 2);
  const headers = { "x-idempotency-key": "step" };
  const ids = [
    await idOf(await local.post("optim_step", step, headers)),
    await idOf(await local.post("optim_step", step, headers)),
    await idOf(await local.post("optim_step", step, { "x-idempotency-key": "another" })),
  ];
  expect(new Set(ids).size).toBe(1);
  expect(await logprobs(b!.modelId, 3)).toEqual(expected);

  const { seq_id: _none, ...unnumbered } = optimStep(c!.modelId, 2);
  const keyed = { "x-idempotency-key": "unnumbered" };
  const first = await idOf(await local.post("optim_step", unnumbered, keyed));
  expect(await idOf(await local.post("optim_step", unnumbered, keyed))).toBe(first);
  const { forward_backward_input: input, model_id: id } = forwardBackward(c!.modelId, 2, data);
  const after = await local.call("forward", { model_id: id, forward_input: input });
  expect(after["loss_fn_outputs"][0].logprobs.data).toEqual(expected);
});

it("does not remember what it refused", async () => {
  const headers = { "x-idempotency-key": "refused" };
  const body = { user_metadata: { x: "y".repeat(70_000) } };
  expect((await local.post("create_session", body, headers)).status).toBe(422);
  expect((await local.post("create_session", {}, headers)).status).toBe(200);
});

it("says that a repeated request was carried out when its result is gone", async () => {
  const sessionId = await local.createSession();
  const { modelId } = await local.createModel(sessionId);
  const headers = { "x-idempotency-key": "gone" };
  const body = { model_id: modelId, type: "unload_model" };
  const first = await local.post("unload_model", body, headers);
  await local.resultOf(first);
  const path = `/v1/accounts/local/trainingSessions/${sessionId}`;
  expect((await local.send("DELETE", path)).status).toBe(200);
  const again = await local.post("unload_model", body, headers);
  expect(again.status).toBe(409);
  expect(((await again.json()) as Json)["error"].message).toContain("carried out already");
});

it("executes chunks in the order of their numbers, whichever comes first", async () => {
  const [inOrder, turned] = [await local.createModel(), await local.createModel()];
  const more = [datum([50, 51, 52])];
  const send = async (modelId: string, numbers: readonly number[]): Promise<void> => {
    const requests: Record<number, [string, Json]> = {
      1: ["forward_backward", forwardBackward(modelId, 1, data)],
      2: ["forward_backward", forwardBackward(modelId, 2, more)],
      3: ["optim_step", optimStep(modelId, 3)],
    };
    const sent = numbers.map((number) => local.post(...requests[number]!));
    for (const response of await Promise.all(sent))
      expect(await local.resultOf(response)).toHaveProperty("metrics");
  };
  await send(inOrder.modelId, [1, 2, 3]);
  await send(turned.modelId, [3, 2, 1]);
  expect(await logprobs(turned.modelId, 4)).toEqual(await logprobs(inOrder.modelId, 4));
});

it("fails a request whose predecessor never comes, and the step after it", async () => {
  const { modelId } = await local.createModel();
  await local.call("forward_backward", forwardBackward(modelId, 1, data));
  const late = await local.call("forward_backward", forwardBackward(modelId, 3, data));
  expect(late).toMatchObject({ category: "user", error: expect.stringContaining("number 2") });
  const step = await local.call("optim_step", optimStep(modelId, 4));
  expect(step).toMatchObject({ category: "user", error: expect.stringContaining("not taken") });
});

it("polls: try again, the size of a large result, then the result; 410 for one that is gone", async () => {
  await using own = await startFireworks({ pollMs: 20, metadataBytes: 100, gapMs: 400 });
  const { modelId } = await own.createModel();
  const id = await idOf(await own.post("forward_backward", forwardBackward(modelId, 2, data)));
  const poll = async (more: Json = {}): Promise<Json> =>
    (await (await own.post("retrieve_future", { request_id: id, ...more })).json()) as Json;
  expect(await poll()).toEqual({ type: "try_again", request_id: id, queue_state: "active" });
  await own.post("forward_backward", forwardBackward(modelId, 1, data));
  const announced = { status: "complete_metadata", response_payload_size: expect.any(Number) };
  await expect.poll(() => poll({ allow_metadata_only: true })).toEqual(announced);
  const [size, result] = [await poll({ allow_metadata_only: true }), await poll()];
  expect(JSON.stringify(result)).toHaveLength(size["response_payload_size"]);
  expect(result["loss_fn_outputs"]).toHaveLength(1);
  const gone = await own.post("retrieve_future", { request_id: "none" });
  expect([gone.status, Object.keys((await gone.json()) as Json)]).toEqual([410, ["error"]]);
});

it("needs the key, in either header, wherever it matters", async () => {
  const paths = [
    ["POST", "/training/v1/serverless/api/v1/create_session"],
    ["POST", "/training/v1/serverless/inference/v1/completions"],
    ["GET", "/training/v1/serverless/api/v1/list_checkpoints"],
    ["GET", "/v1/accounts"],
    ["DELETE", "/v1/accounts/local/trainingSessions/ts-0"],
    ["POST", "/nowhere"],
  ] as const;
  for (const [method, path] of paths) {
    for (const headers of [
      {},
      { "x-api-key": `${key}x` },
      { authorization: "Bearer no" },
      { "x-api-key": "no", authorization: `Bearer ${key}` },
    ] as Record<string, string>[]) {
      const body = method === "POST" ? {} : undefined;
      const response = await local.send(method, path, body, headers);
      expect(response.status, path).toBe(401);
      const json = (await response.json()) as Json;
      const isAccount = path.startsWith("/v1/");
      expect(isAccount ? json["code"] : json["error"].code).toBe(
        isAccount ? 16 : "UNAUTHENTICATED",
      );
      expect(isAccount ? json["message"] : json["error"].message).toContain("X-Api-Key");
    }
  }
  const bearer = { authorization: `Bearer ${key}` };
  expect((await local.send("GET", "/v1/accounts", undefined, bearer)).status).toBe(200);
});
