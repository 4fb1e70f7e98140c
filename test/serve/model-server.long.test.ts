/** Models at plain /v1, through the official clients. */
import Anthropic from "@anthropic-ai/sdk";
import { cpSync, renameSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evaluationConfig } from "../../src/launch/evaluate/evaluation-config.ts";
import { locateModel } from "../../src/launch/evaluate/locate-model.ts";
import { startModel } from "../../src/launch/evaluate/start-model.ts";
import { createModelServer, type ModelServer } from "../../src/launch/serve/model-server.ts";
import { createUpstream } from "../../src/testing/index.ts";
import { newFolder } from "../trainer/coin-run.ts";
import { readSpans } from "../../src/production/store/production-store.ts";
import {
  listCheckpoints,
  pruneCheckpoints,
  readCheckpoint,
  saveCheckpoint,
} from "../../src/runs/checkpoint.ts";
import { writeHandedOver } from "../../src/runs/rounds/handed-over.ts";
import { trainedRun } from "./trained-run.ts";

let trained = "";
let server: ModelServer;
let url: string;
beforeAll(async () => {
  trained = await trainedRun();
  const models = [
    { name: "shop", model: `${trained}/latest` },
    { name: "step-1", model: join(trained, "checkpoints/000001") },
    { name: "base", model: "builtin:shop-tiny" },
  ];
  server = await createModelServer({ models, key: "secret" });
  ({ url } = await server.listen());
});
afterAll(() => server[Symbol.asyncDispose]());

const openai = (baseURL: string, apiKey = "any"): OpenAI =>
  new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const hello = [{ role: "user", content: "How much do 3 lamps cost?" }] as const;
const greedy = { messages: [...hello], max_tokens: 12, temperature: 0 };
const textOf = async (client: OpenAI, model: string): Promise<string> => {
  const { choices } = await client.chat.completions.create({ ...greedy, model });
  return choices[0]?.message.content ?? JSON.stringify(choices[0]?.message.tool_calls);
};

describe("models over one base, and a key", () => {
  it("lists and describes its models to both clients", async () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/u);
    const client = openai(url, "secret");
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([
      "shop",
      "step-1",
      "base",
    ]);
    expect(await client.models.retrieve("base")).toMatchObject({ id: "base", object: "model" });
    const anthropic = new Anthropic({ baseURL: url.replace(/\/v1$/u, ""), apiKey: "secret" });
    expect((await anthropic.models.list()).data.map(({ id, type }) => [id, type])).toEqual([
      ["shop", "model"],
      ["step-1", "model"],
      ["base", "model"],
    ]);
  });

  it("responds as the model that is named: whole, in pieces, and with a seed again", async () => {
    const client = openai(url, "secret");
    const whole = await client.chat.completions.create({ ...greedy, model: "shop" });
    expect(whole.model).toBe("shop");
    expect(whole.usage?.completion_tokens).toBeGreaterThan(0);
    const stream = await client.chat.completions.create({ ...greedy, model: "shop", stream: true });
    let text = "";
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    expect(text).toBe(whole.choices[0]?.message.content);
    // Each adapter has its own weights.
    const texts = await Promise.all(server.models.map((model) => textOf(client, model)));
    expect(texts[0]).toBe(text);
    expect(new Set(texts).size).toBe(3);
    const seeded = async (seed: number): Promise<string | null | undefined> => {
      const sampled = { ...greedy, temperature: 1, model: "shop", seed, max_tokens: 24 };
      return (await client.chat.completions.create(sampled)).choices[0]?.message.content;
    };
    expect(await seeded(5)).toBe(await seeded(5));
    expect(new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(seeded))).size).toBeGreaterThan(1);
  });

  it("continues a response by its id, also one that was streamed", async () => {
    const client = openai(url, "secret");
    const options = { model: "shop", max_output_tokens: 4, temperature: 0 } as const;
    const first = await client.responses.create({ ...options, input: "One" });
    const stream = await client.responses.create({
      ...options,
      input: "Two",
      previous_response_id: first.id,
      stream: true,
    });
    let id = "";
    for await (const event of stream)
      if (event.type === "response.created") ({ id } = event.response);
    const third = await client.responses.create({
      ...options,
      input: "Three",
      previous_response_id: id,
    });
    const fresh = await client.responses.create({ ...options, input: "Three" });
    expect(third.usage!.input_tokens).toBeGreaterThan(fresh.usage!.input_tokens + 8);
    await expect(
      client.responses.create({ ...options, input: "x", previous_response_id: "resp_0" }),
    ).rejects.toThrow("Previous response");
  });

  it("continues a response by its items, as the AI SDK sends them", async () => {
    const client = openai(url, "secret");
    const options = { model: "shop", max_output_tokens: 4, temperature: 0 } as const;
    const one = { role: "user", content: "Hello" } as const;
    const two = { role: "user", content: "Two" } as const;
    const { output, output_text: said } = await client.responses.create({
      ...options,
      input: [one],
    });
    const referred = output.map(({ id }) => ({ type: "item_reference" as const, id: id! }));
    const byItem = await client.responses.create({ ...options, input: [one, ...referred, two] });
    const byText = await client.responses.create({
      ...options,
      input: [one, { role: "assistant", content: said }, two],
    });
    expect(byItem.output_text).toBe(byText.output_text);
    expect(byItem.usage!.input_tokens).toBe(byText.usage!.input_tokens);
    // Those of the second response are in the same conversation.
    const again = byItem.output.map(({ id }) => ({ type: "item_reference" as const, id: id! }));
    await client.responses.create({ ...options, input: [one, ...referred, two, ...again, one] });
  });

  it("speaks Anthropic's protocol and completions", async () => {
    const anthropic = new Anthropic({ baseURL: url, apiKey: "secret", maxRetries: 0 });
    // Its types have forgotten the temperature.
    const message = { model: "shop", max_tokens: 6, messages: [...hello], ...{ temperature: 0 } };
    const whole = await anthropic.messages.create(message);
    expect(whole).toMatchObject({ type: "message", model: "shop" });
    const streamed = await anthropic.messages.stream(message).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect((await anthropic.messages.countTokens(message)).input_tokens).toBe(
      whole.usage.input_tokens,
    );
    const legacy = await openai(url, "secret").completions.create({
      model: "shop",
      prompt: "a",
      max_tokens: 3,
    });
    expect(legacy.usage?.completion_tokens).toBeLessThanOrEqual(3);
  });

  it("refuses other keys, unknown models and other paths, in the words of each protocol", async () => {
    const client = openai(url, "secret");
    await expect(openai(url, "guess").models.list()).rejects.toMatchObject({ status: 401 });
    await expect(textOf(client, "gpt-5")).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      message: expect.stringContaining("Models: shop, step-1, base.") as string,
    });
    const anthropic = new Anthropic({ baseURL: url, apiKey: "secret", maxRetries: 0 });
    await expect(
      anthropic.messages.create({ model: "none", max_tokens: 1, messages: [...hello] }),
    ).rejects.toMatchObject({ status: 404, error: { error: { type: "not_found_error" } } });
    const headers = { authorization: "Bearer secret" };
    expect((await fetch(`${url}/embeddings`, { method: "POST", headers })).status).toBe(404);
    expect((await fetch(`${url}/chat/completions`, { headers })).status).toBe(405);
    const broken = { method: "POST", headers, body: "{" };
    expect((await fetch(`${url}/chat/completions`, broken)).status).toBe(400);
  });

  it("counts calls by model, and keeps no session of what has ended", async () => {
    const client = openai(url, "secret");
    await textOf(client, "base");
    const metrics = await fetch(url.replace(/v1$/u, "metrics"), {
      headers: { authorization: "Bearer secret" },
    });
    const lines = (await metrics.text()).split("\n");
    expect(lines.filter((line) => line.startsWith("# TYPE"))).toHaveLength(
      new Set(lines.filter((line) => line.startsWith("# TYPE"))).size,
    );
    expect(lines).toContain('agent_trainer_gateway_sessions_open{model="base"} 0');
    expect(
      lines.some((line) => /_calls?_seconds_count\{model="shop",outcome="done"\} \d/u.test(line)),
    ).toBe(true);
  });
});

it("passes calls on to an endpoint; without a key it serves this machine, and no browser", async () => {
  await using upstream = await createUpstream({ kind: "openai", script: () => "from there" });
  const models = [{ name: "far", model: { url: upstream.url } }];
  await using open = await createModelServer({ models });
  await expect(open.listen({ host: "0.0.0.0" })).rejects.toThrow("no key is set");
  const { url: own } = await open.listen();
  expect(await textOf(openai(own), "far")).toBe("from there");
  const fromPage = await fetch(`${own}/models`, { headers: { origin: "https://example.com" } });
  expect(fromPage.status).toBe(403);
});

const twice = ["builtin:shop-tiny", "builtin:shop-tiny"];
it.each([
  ["spaces", { models: ["builtin:shop-tiny"], key: "two words" }],
  ["no model", { models: [] }],
  ["Two models would be served under the name", { models: twice }],
])("refuses: %s", async (why, options) => {
  await expect(createModelServer(options)).rejects.toThrow(why);
});

it(
  "swaps in a newer checkpoint while calls run and none fails, but no damaged one",
  { timeout: 120_000 },
  async () => {
    const run = join(newFolder(), "shop");
    cpSync(trained, run, { recursive: true });
    const stepPath = (step: number): string => join(run, `checkpoints/00000${step}`);
    const aside = (step: number): string => join(run, `aside-${step}`);
    renameSync(stepPath(2), aside(2));
    renameSync(stepPath(3), aside(3));
    writeFileSync(join(aside(2), "weights/adapter_model.safetensors"), "damaged");
    const heard = new EventEmitter();
    await using own = await createModelServer({
      models: [run],
      follow: true,
      followEveryMs: 20,
      onSwap: (swap) => void heard.emit("swap", swap),
      onWarning: (message) => void heard.emit("warning", message),
    });
    const { url: ownUrl } = await own.listen();
    const client = openai(ownUrl);
    const [first, last] = await Promise.all(
      ["step-1", "shop"].map((model) => textOf(openai(url, "secret"), model)),
    );
    expect(await textOf(client, "shop")).toBe(first);

    const warned = once(heard, "warning");
    renameSync(aside(2), stepPath(2));
    expect(await warned).toEqual([expect.stringContaining("shop stays at step 1") as string]);
    expect(await textOf(client, "shop")).toBe(first);

    const calls = { isDone: false };
    const failures: unknown[] = [];
    const texts = new Set<string>();
    const keepCalling = async (): Promise<void> => {
      while (!calls.isDone) {
        try {
          texts.add(await textOf(client, "shop"));
        } catch (error) {
          failures.push(error);
        }
      }
    };
    const callers = [keepCalling(), keepCalling(), keepCalling()];
    const swapped = once(heard, "swap");
    renameSync(aside(3), stepPath(3));
    expect(await swapped).toEqual([{ model: "shop", step: 3, checkpoint: stepPath(3) }]);
    expect(await textOf(client, "shop")).toBe(last);
    calls.isDone = true;
    await Promise.all(callers);
    expect(failures).toEqual([]);
    // Calls in flight end before the weights change: each is of one checkpoint.
    expect([...texts].filter((text) => text !== first && text !== last)).toEqual([]);
  },
);

it("follows what improve hands over from one run to the next, and keeps it from being deleted", async () => {
  const improve = newFolder();
  const runs = [1, 2].map((round) => join(improve, `round-00000${round}`));
  for (const run of runs) cpSync(trained, run, { recursive: true });
  const pathOf = (round: number, step: number): string =>
    join(runs[round - 1]!, "checkpoints", `00000${step}`);
  const handOver = (round: number, step: number): void =>
    writeHandedOver(improve, { round, model: pathOf(round, step), version: "v" });
  handOver(1, 1);
  const swaps: unknown[] = [];
  const own = await createModelServer({
    models: [
      { name: "shop", model: improve },
      { name: "base", model: "builtin:shop-tiny" },
    ],
    follow: true,
    followEveryMs: 20,
    onSwap: (swap) => swaps.push(swap),
  });
  // The first gets requests that name no model.
  expect(own.models).toEqual(["shop", "base"]);
  const { url: ownUrl } = await own.listen();
  const texts = () => textOf(openai(ownUrl), "shop");
  const first = await texts();
  expect(first).toBe(await textOf(openai(url, "secret"), "step-1"));
  handOver(2, 3);
  await expect
    .poll(() => swaps, { timeout: 20_000 })
    .toEqual([{ model: "shop", step: 3, checkpoint: pathOf(2, 3) }]);
  expect(await texts()).toBe(await textOf(openai(url, "secret"), "shop"));
  // The same step of another run is another model, too.
  handOver(1, 3);
  await expect.poll(() => swaps.length, { timeout: 20_000 }).toBe(2);
  handOver(2, 1);
  await expect.poll(() => swaps.length, { timeout: 20_000 }).toBe(3);
  expect(await texts()).toBe(first);
  await pruneCheckpoints(join(runs[1]!, "checkpoints"), 1, null);
  expect(await listCheckpoints(join(runs[1]!, "checkpoints"))).toEqual([3, 1]);
  await own[Symbol.asyncDispose]();
  // What was handed over last stays without a server, too.
  await pruneCheckpoints(join(runs[1]!, "checkpoints"), 1, null);
  expect(await listCheckpoints(join(runs[1]!, "checkpoints"))).toEqual([3, 1]);
});

it("says exactly which checkpoint responds, and keeps it with the call", async () => {
  const run = join(newFolder(), "shop");
  const checkpoints = join(run, "checkpoints");
  cpSync(trained, run, { recursive: true });
  for (const name of ["000002", "000003"])
    renameSync(join(checkpoints, name), join(run, `hidden-${name}`));
  const store = newFolder();
  const swaps: unknown[] = [];
  await using own = await createModelServer({
    models: [run],
    ...{ store, follow: true, followEveryMs: 20 },
    onSwap: (swap) => swaps.push(swap),
  });
  const ask = async (): Promise<string | null> => {
    const response = await own.fetch(
      new Request("http://127.0.0.1/v1/chat/completions", {
        method: "POST",
        body: JSON.stringify(greedy),
      }),
    );
    await response.text();
    return response.headers.get("x-agent-trainer-version");
  };
  const versionOf = async (step: number): Promise<string> =>
    `shop@${step}-${(await readCheckpoint(checkpoints, step)).sha256.slice(0, 8)}`;
  const older = await versionOf(1);
  expect(await ask()).toBe(older);
  renameSync(join(run, "hidden-000002"), join(checkpoints, "000002"));
  await expect.poll(() => swaps.length, { timeout: 20_000 }).toBe(1);
  const newer = await versionOf(2);
  expect(await ask()).toBe(newer);
  const spans = [...readSpans(store)];
  expect(spans.map(({ model }) => model?.model)).toEqual([older, newer]);
  expect(new Set(spans.map(({ model }) => model?.weightVersion)).size).toBe(2);
});

it("starts while the run saves and prunes its checkpoints", async () => {
  const run = join(newFolder(), "shop");
  cpSync(trained, run, { recursive: true });
  const root = join(run, "checkpoints");
  const { state, weights } = await readCheckpoint(join(trained, "checkpoints"), 3);
  const loop = { step: 3, isDone: false };
  const keepPruning = async (): Promise<void> => {
    while (!loop.isDone) {
      const step = loop.step + 1;
      await saveCheckpoint(root, { ...state, step }, async (folder) =>
        cp(weights, folder, { recursive: true }),
      );
      loop.step = step;
      await pruneCheckpoints(root, 1, null);
    }
  };
  const pruning = keepPruning();
  try {
    for (let start = 0; start < 5; start++) {
      await using own = await createModelServer({
        models: [run, { name: "now", model: `${run}/latest` }],
      });
      const { url: ownUrl } = await own.listen();
      expect(await textOf(openai(ownUrl), "shop")).toBe(
        await textOf(openai(url, "secret"), "shop"),
      );
    }
  } finally {
    loop.isDone = true;
    await pruning;
  }
  await pruneCheckpoints(root, 1, null);
  expect(await listCheckpoints(root)).toEqual([loop.step]);
});

it("does not open another checkpoint than the one that was named, and says that it is gone", async () => {
  const run = join(newFolder(), "shop");
  cpSync(trained, run, { recursive: true });
  const located = await locateModel(join(run, "checkpoints/000001"));
  await pruneCheckpoints(join(run, "checkpoints"), 1, null);
  const config = evaluationConfig({}, located);
  const signal = new AbortController().signal;
  await expect(startModel(located, config, {}, signal)).rejects.toThrow(
    /000001 was deleted while it was being opened/u,
  );
  // The run itself stands for its newest one, which is another by now.
  const newest = await locateModel(run);
  const root = join(run, "checkpoints");
  const { state, weights } = await readCheckpoint(root, 3);
  await saveCheckpoint(root, { ...state, step: 4 }, async (to) =>
    cp(weights, to, { recursive: true }),
  );
  await pruneCheckpoints(root, 1, null);
  const relocate = () => locateModel(run);
  await using started = await startModel(newest, config, { relocate }, signal);
  expect(started.checkpoint?.state.step).toBe(4);
});
