/** What clients leave behind is freed, and what they ask for at the same time keeps to the limits. */
import { expect, it } from "vitest";
import { Futures } from "../../src/tinker-server/futures.ts";
import { UsedCache } from "../../src/tinker-server/model/used-cache.ts";
import { startServer } from "./local-server.ts";
import { rawClient } from "./raw-client.ts";

it("serves forty clients that close their sessions with room for one model", async () => {
  await using local = await startServer({ maxModels: 1 });
  const raw = rawClient(local.server);
  for (let i = 0; i < 40; i++) {
    const sessionId = await raw.createSession();
    const modelId = await raw.createModel({ sessionId });
    const step = await raw.post("optim_step", { model_id: modelId, seq_id: 1, adam_params: {} });
    expect(await raw.resultOf(step)).toMatchObject({ type: "optim_step" });
    const reason = { reason: { type: "success" }, detail: null };
    expect((await raw.post(`sessions/${sessionId}/finish`, reason)).status).toBe(200);
    // The first end counts; a repeated request is no mistake.
    expect((await raw.post(`sessions/${sessionId}/finish`, reason)).status).toBe(200);
    const { status } = await raw.post("session_heartbeat", { session_id: sessionId });
    expect(status).toBe(410);
  }
  expect((await raw.post("sessions/none/finish", {})).status).toBe(404);
});

it("serves forty of our own clients, one after the other", async () => {
  await using local = await startServer({ maxModels: 1 });
  for (let i = 0; i < 40; i++) {
    await using client = await local.connect();
    const model = await client.createModel({ baseModel: "shop-tiny", rank: 2 });
    expect(await model.optimStep({})).toEqual({ grad_norm: 0 });
  }
});

it("frees what a session had at once: models, samplers, results and samples under way", async () => {
  await using local = await startServer({ maxModels: 1 });
  const raw = rawClient(local.server);
  const sessionId = await raw.createSession();
  const modelId = await raw.createModel({ sessionId });
  const done = await raw.post("optim_step", { model_id: modelId, seq_id: 1, adam_params: {} });
  const { request_id: doneId } = (await done.clone().json()) as { request_id: string };
  await raw.resultOf(done);
  const made = await raw.post("save_weights_for_sampler", {
    model_id: modelId,
    seq_id: 2,
    sampling_session_seq_id: 0,
  });
  const { sampling_session_id: sampler } = await raw.resultOf(made);
  const body = {
    sampling_session_id: sampler,
    prompt: { chunks: [{ type: "encoded_text", tokens: [40, 41] }] },
    sampling_params: { max_tokens: 500, stop: [], seed: 1 },
  };
  expect((await raw.post("asample", body)).status).toBe(200);
  await raw.post(`sessions/${sessionId}/finish`, {});
  expect((await raw.post("asample", body)).status).toBe(404);
  expect((await raw.post("get_info", { model_id: modelId })).status).toBe(404);
  expect((await raw.post("retrieve_future", { request_id: doneId })).status).toBe(410);
  const late = await raw.post("create_model", {
    session_id: sessionId,
    model_seq_id: 7,
    base_model: "shop-tiny",
    lora_config: { rank: 2 },
  });
  expect(late.status).toBe(410);
  await raw.createModel();
});

it("frees the models of silent clients without being asked", async () => {
  await using local = await startServer({ maxModels: 1, sessionTimeoutMs: 300 });
  const raw = rawClient(local.server);
  const modelId = await raw.createModel();
  const status = async () => (await raw.post("get_info", { model_id: modelId })).status;
  // Asking would be a sign of life.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(await status()).toBe(404);
  await raw.createModel();
});

it("keeps to the limit of models that are made at the same time, and says how to raise it", async () => {
  await using local = await startServer({ maxModels: 3 });
  const raw = rawClient(local.server);
  const made = await Promise.allSettled(Array.from({ length: 12 }, () => raw.createModel()));
  const refused = made.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(9);
  for (const { reason } of refused as PromiseRejectedResult[])
    expect(String(reason)).toMatch(/3 models are loaded.*--max-models/u);
});

it("keeps no model whose checkpoint could not be loaded", async () => {
  await using local = await startServer({ maxModels: 2 });
  const raw = rawClient(local.server);
  const sessionId = await raw.createSession();
  const modelId = await raw.createModel({ sessionId });
  const save = { model_id: modelId, seq_id: 1, path: "bare" };
  const { path } = await raw.resultOf(await raw.post("save_weights_for_sampler", save));
  for (let i = 1; i < 4; i++) {
    // A checkpoint for samplers has no optimizer.
    const body = { session_id: sessionId, model_seq_id: i, path, optimizer: true };
    expect(await raw.resultOf(await raw.post("load_weights", body))).toMatchObject({
      category: "user",
      error: expect.stringContaining("no optimizer state"),
    });
  }
  await raw.createModel({ sessionId, seqId: 9 });
});

it("keeps results that fit, those that nobody fetched longest", async () => {
  const futures = new Futures({ maxBytes: 1000 });
  const fail = () => ({ kind: "failed", message: "", category: "user" }) as const;
  const add = async (bytes: number): Promise<string> => {
    const id = futures.add(Promise.resolve({ x: [new Float32Array(bytes / 4)] }), fail, "a");
    await futures.settled(id);
    return id;
  };
  const [first, second] = [await add(400), await add(400)];
  expect(await futures.wait(second, 10)).toMatchObject({ kind: "done" });
  const third = await add(400);
  expect(await futures.wait(second, 10)).toBeNull();
  expect(await futures.wait(first, 10)).toMatchObject({ kind: "done" });
  // One that is larger than all the room is kept until it is fetched.
  const large = await add(4000);
  expect(await futures.wait(large, 10)).toMatchObject({ kind: "done" });
  expect(await futures.wait(third, 10)).toBeNull();
  futures.forgetOf("a");
  expect(await futures.wait(large, 10)).toBeNull();
});

it("keeps what was used last, and closes nothing that is in use", async () => {
  const closed: string[] = [];
  const cache = new UsedCache<string>(2, async (key) => void closed.push(key));
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const using = cache.use(
    "a",
    () => "a",
    () => held,
  );
  const use = (key: string): Promise<string> =>
    cache.use(
      key,
      () => key,
      async (value) => value,
    );
  for (const key of ["b", "c", "d"]) expect(await use(key)).toBe(key);
  expect(closed).toEqual(["b", "c"]);
  release();
  await using;
  await use("e");
  expect(cache.size).toBe(2);
  const failing = cache.use(
    "e",
    () => "e",
    () => Promise.reject(new Error("no memory")),
  );
  await expect(failing).rejects.toThrow("no memory");
  expect(await use("e")).toBe("e");
  await cache.close();
  expect(closed).toEqual(["b", "c", "a", "d", "e"]);
});
