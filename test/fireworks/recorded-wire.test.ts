/** Every request of this client against what the official SDK 1.2.30 sent for the same calls. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createFireworksClient } from "../../src/backends/fireworks/index.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import { countedSleep, FireworksStandIn } from "./stand-in.ts";

interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Record<string, unknown>;
}

const recorded = readFileSync(new URL("wire.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

/** Ids by form: a session, a run, a snapshot's suffix, a promise. */
function normalized(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll(/ts-[0-9a-f]{16}/gu, "SESSION")
      .replaceAll(/run-[0-9a-f]{32}/gu, "RUN")
      .replaceAll(/step-0-[0-9a-f]{8}/gu, "step-0-SUFFIX")
      .replaceAll(/req-\d+/gu, "PROMISE"),
  );
}

/** Polls come as often as they have to. */
const isCall = ({ url }: { readonly url: string }): boolean =>
  !/telemetry|retrieve_future/u.test(url);

const floats = (...values: number[]) => createFloatTensor(Float32Array.from(values));

it("sends what the official SDK sends, call by call", async () => {
  const server = new FireworksStandIn();
  const client = await createFireworksClient({
    baseUrl: "http://fireworks.test",
    apiKey: "fw_test",
    fetch: server.fetch,
    sleep: countedSleep().sleep,
  });
  const model = await client.createModel({
    baseModel: "accounts/fireworks/models/qwen3p5-9b",
    rank: 8,
  });
  const sampler = client.createSampler(await model.saveForSampler("step-0"));
  const prompt = Int32Array.of(1, 2, 3);
  for (let i = 0; i < 2; i++) await sampler.sample(prompt, { maxTokens: 8 });
  await sampler.computeLogprobs(prompt);
  const datum = {
    tokens: Int32Array.of(1, 2, 3, 11, 12),
    lossInputs: {
      target_tokens: createIdTensor(Int32Array.of(2, 3, 11, 12, 13)),
      logprobs: floats(0, 0, -0.5, -0.5, -0.5),
      advantages: floats(0, 0, 1, 1, 1),
    },
  };
  await model.forwardBackward([datum], "importance_sampling");
  const bounds = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };
  await model.forwardBackward([datum], "ppo", bounds);
  await model.optimStep({ learningRate: 1e-4 }, { normalization: "num_loss_tokens" });
  await model.forward([datum], "cross_entropy");
  await model.loadState(await model.saveState("step-1"), true);
  expect(await client.checkpointNames()).toEqual(["step-1"]);
  await model.unload();
  await client.delete();

  const sent = server.requests.map(({ method, path, body }) => ({ method, url: path, body }));
  const bySdk = recorded.map(({ method, url, body }) => ({ method, url, body: body ?? null }));
  const calls = (all: typeof sent): unknown[] => all.filter(isCall).map(normalized);
  // The account is looked up first here, since a session without one could not be deleted.
  const accountFirst = (all: typeof sent): typeof sent =>
    [...all].sort(
      (a, b) => Number(b.url.includes("accounts?")) - Number(a.url.includes("accounts?")),
    );
  expect(calls(sent)).toEqual(calls(accountFirst(bySdk)));

  // Each poll is the SDK's, too.
  const polls = (all: typeof sent): unknown[] =>
    all.filter(({ url }) => url.includes("retrieve_future")).map(normalized);
  expect(new Set(polls(sent).map((p) => JSON.stringify(p)))).toEqual(
    new Set(polls(bySdk).map((p) => JSON.stringify(p))),
  );
});

it("sends the headers on which the service acts", async () => {
  const server = new FireworksStandIn();
  const options = { baseUrl: "http://fireworks.test/training/v1/serverless", apiKey: "fw_test" };
  const client = await createFireworksClient({ ...options, fetch: server.fetch });
  const model = await client.createModel({ baseModel: "m", rank: 8 });
  const sampler = client.createSampler(await model.saveForSampler("step-0"));
  await sampler.sample(Int32Array.of(1), { maxTokens: 1 });
  await client.delete();
  const acting = ["x-api-key", "x-idempotency-key", "x-stainless-retry-count", "authorization"];
  const types = ["x-tinker-request-type", "x-tinker-request-iteration"];
  const shape = (route: string, has: (name: string) => string | null | undefined) =>
    [...acting, ...types].flatMap((name) => {
      const value = has(name);
      if (value === null || value === undefined) return [];
      return [`${route} ${name}: ${name === "x-idempotency-key" ? "KEY" : value}`];
    });
  const ours = server.requests.flatMap(({ path, headers }) => shape(path, (n) => headers.get(n)));
  const theirs = recorded.flatMap(({ url, headers }) => shape(url, (n) => headers[n]));
  // A key on inference is more than the SDK sends; a service that does not know it ignores it.
  const extra = (line: string): boolean => /completions x-(?:idempotency|stainless)/u.test(line);
  const known = (line: string): string => line.replaceAll(/ts-[0-9a-f]{16}/gu, "SESSION");
  const expected = new Set(theirs.map(known));
  const missing = ours.filter((line) => !extra(line)).filter((line) => !expected.has(known(line)));
  expect(missing).toEqual([]);
});
