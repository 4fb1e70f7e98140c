/** A candidate in production: who gets it, and how feedback promotes it or rolls it back, also over restarts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { curate } from "../../src/production/curate/curate.ts";
import { readFeedback, readSpans } from "../../src/production/store/production-store.ts";
import { createModelServer, type ModelServer } from "../../src/launch/serve/model-server.ts";
import type { CanaryChange, ModelServerOptions } from "../../src/launch/serve/serve-options.ts";
import { createUpstream, type Upstream } from "../../src/testing/index.ts";
import { newFolder } from "../trainer/coin-run.ts";

let [first, second] = [] as unknown as [Upstream, Upstream];
beforeAll(async () => {
  first = await createUpstream({ kind: "openai", script: () => "one" });
  second = await createUpstream({ kind: "openai", script: () => "two" });
});
afterAll(() => Promise.all([first, second].map((one) => one[Symbol.asyncDispose]())));

interface Answer {
  readonly text: string;
  readonly id: string;
  readonly version: string;
}

async function say(
  server: ModelServer,
  headers: Readonly<Record<string, string>>,
  fields: object = {},
): Promise<Answer> {
  const response = await server.fetch(
    new Request("http://127.0.0.1/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ messages: [{ role: "user", content: "Which?" }], ...fields }),
    }),
  );
  const body = (await response.json()) as {
    id: string;
    choices: { message: { content: string } }[];
  };
  expect(response.status, JSON.stringify(body)).toBe(200);
  const version = response.headers.get("x-agent-trainer-version") ?? "";
  return { text: body.choices[0]?.message.content ?? "", id: body.id, version };
}

const conversation = (name: string) => ({ "x-conversation-id": name });

async function rate(server: ModelServer, feedback: unknown): Promise<[number, unknown]> {
  const body = typeof feedback === "string" ? feedback : JSON.stringify(feedback);
  const response = await server.fetch(
    new Request("http://127.0.0.1/feedback", { method: "POST", body }),
  );
  return [response.status, await response.json()];
}

const changes: CanaryChange[] = [];
beforeEach(() => void (changes.length = 0));

function open(store: string, options: Partial<ModelServerOptions> = {}): Promise<ModelServer> {
  return createModelServer({
    models: [{ name: "shop", model: `${first.url}/v1` }],
    store,
    canary: { share: 0.5, candidate: `${second.url}/v1`, minFeedback: 5 },
    onCanary: (change) => changes.push(change),
    ...options,
  });
}

/** The names of conversations that each version has, once the candidate is on trial. */
async function arms(server: ModelServer, count: number): Promise<Record<string, Answer[]>> {
  const found: Record<string, Answer[]> = { one: [], two: [] };
  for (let i = 0; found["one"]!.length < count || found["two"]!.length < count; i++) {
    const answer = await say(server, conversation(`c${i}`));
    found[answer.text]!.push(answer);
    expect(i).toBeLessThan(300);
  }
  return found;
}

async function onTrial(): Promise<void> {
  await expect.poll(() => changes.at(-1)?.what, { timeout: 20_000 }).toBe("trial");
}

describe("a canary", () => {
  it("gives a share of conversations to the candidate, and stays with it", async () => {
    await using server = await open(newFolder());
    await onTrial();
    const texts = new Map<string, string>();
    for (let i = 0; i < 40; i++) {
      const name = `c${i % 20}`;
      const { text, version } = await say(server, conversation(name));
      expect(version).toContain(text === "one" ? first.url : second.url);
      expect(texts.get(name) ?? text).toBe(text);
      texts.set(name, text);
    }
    const tried = [...texts.values()].filter((text) => text === "two").length;
    expect(tried).toBeGreaterThan(3);
    expect(tried).toBeLessThan(17);
    // The user, and what a conversation begins with, hold one together as well.
    const byUser = await Promise.all([1, 2, 3].map(() => say(server, {}, { user: "ann" })));
    expect(new Set(byUser.map(({ text }) => text)).size).toBe(1);
    const opening = { role: "user", content: "Hello" };
    const begun = await say(server, {}, { messages: [opening] });
    const turns = [
      opening,
      { role: "assistant", content: "Hi" },
      { role: "user", content: "And?" },
    ];
    expect((await say(server, {}, { messages: turns })).text).toBe(begun.text);
  });

  it("keeps calls with their version, and feedback once", async () => {
    const store = newFolder();
    await using server = await open(store);
    await onTrial();
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    const answer = await say(server, { ...conversation("c1"), traceparent });
    const [span] = [...readSpans(store)];
    expect(span).toMatchObject({
      traceId: "ab".repeat(16),
      conversationId: "c1",
      model: { model: answer.version, responseId: answer.id, response: { content: answer.text } },
    });
    const up = { responseId: answer.id, thumb: "up", user: "ann" };
    expect(await rate(server, up)).toEqual([
      200,
      { accepted: 1, duplicates: 0, versions: [answer.version] },
    ]);
    expect(await rate(server, up)).toMatchObject([200, { accepted: 0, duplicates: 1 }]);
    expect(await rate(server, { ...up, thumb: "down" })).toMatchObject([200, { accepted: 1 }]);
    const about = [{ traceId: "ab".repeat(16) }, { conversationId: "c1" }];
    for (const one of about)
      expect(await rate(server, { ...one, score: 1 })).toMatchObject([
        200,
        { versions: [answer.version] },
      ]);
    expect([...readFeedback(store)]).toHaveLength(4);
    const metrics = await (await server.fetch(new Request("http://127.0.0.1/metrics"))).text();
    // Ann changed her mind; what was said without a user is another voice.
    const label = JSON.stringify(answer.version);
    expect(metrics).toContain(`agent_trainer_serve_feedback{version=${label}} 2`);
    expect(metrics).toContain(`agent_trainer_serve_feedback_mean{version=${label}} 0.5`);
    expect(metrics).toContain("agent_trainer_serve_feedback_duplicates_total 1");
  });

  it("keeps what the next round of training is made of, with the version of each answer", async () => {
    const store = newFolder();
    {
      await using server = await open(store);
      await onTrial();
      const { one, two } = await arms(server, 2);
      for (const { id, text } of [...one!, ...two!])
        await rate(server, { responseId: id, thumb: text === "one" ? "up" : "down" });
      await rate(server, { responseId: two![0]!.id, user: "ann", correction: "three" });
    }
    const report = await curate({
      folder: store,
      output: join(newFolder(), "data"),
      valFraction: 0,
    });
    const { records, matched, bad, corrections } = report.feedback;
    expect(records).toBe(matched);
    expect([bad > 0, corrections]).toEqual([true, 1]);
    const versions = Object.keys(report.models);
    expect(versions.some((version) => version.includes(first.url))).toBe(true);
    expect(versions.some((version) => version.includes(second.url))).toBe(true);
    expect(report.rows.feedback.train).toBeGreaterThan(0);
  });

  it.each([
    ["about nothing that was served", { responseId: "chatcmpl-0", thumb: "up" }, 404, "chatcmpl-0"],
    ["that says nothing", { responseId: "x" }, 400, "says nothing"],
    ["that is no JSON", "{", 400, "no JSON"],
    ["in too large a list", Array.from({ length: 1001 }, () => ({})), 413, "the limit"],
  ])("refuses feedback %s, and keeps none of it", async (_what, feedback, status, words) => {
    const store = newFolder();
    await using server = await open(store);
    const [found, body] = await rate(server, feedback);
    expect(found).toBe(status);
    expect(JSON.stringify(body)).toContain(words);
    expect([...readFeedback(store)]).toEqual([]);
  });

  it("rolls back what is worse, and never tries it again", async () => {
    const store = newFolder();
    {
      await using server = await open(store);
      await onTrial();
      const { one, two } = await arms(server, 10);
      for (const { id } of one!) await rate(server, { responseId: id, thumb: "up" });
      for (const { id } of two!) await rate(server, { responseId: id, thumb: "down" });
      await expect.poll(() => changes.at(-1)?.what, { timeout: 20_000 }).toBe("rolled back");
      for (let i = 0; i < 20; i++)
        expect((await say(server, conversation(`c${i}`))).text).toBe("one");
    }
    changes.length = 0;
    await using again = await open(store);
    for (let i = 0; i < 20; i++) expect((await say(again, conversation(`d${i}`))).text).toBe("one");
    expect(changes).toEqual([]);
    const state = JSON.parse(readFileSync(join(store, "serve/shop/canary.json"), "utf8")) as object;
    expect(state).toMatchObject({ trial: null, ended: [{ end: "rolled back" }] });
  });

  it("goes on with a trial after a restart, and promotes what is better", async () => {
    const store = newFolder();
    let answers: Record<string, Answer[]>;
    {
      await using server = await open(store);
      await onTrial();
      answers = await arms(server, 10);
      for (const { id } of answers["two"]!.slice(0, 4))
        await rate(server, { responseId: id, score: 1 });
    }
    {
      await using server = await open(store);
      for (const { id } of answers["one"]!) await rate(server, { responseId: id, score: 0 });
      for (const { id } of answers["two"]!.slice(4))
        await rate(server, { responseId: id, score: 1 });
      await expect.poll(() => changes.at(-1)?.what, { timeout: 20_000 }).toBe("promoted");
      for (let i = 0; i < 10; i++)
        expect((await say(server, conversation(`c${i}`))).text).toBe("two");
    }
    await using server = await open(store);
    for (let i = 0; i < 10; i++)
      expect((await say(server, conversation(`c${i}`))).text).toBe("two");
  });

  it.each([
    ["share", { share: 1 }, {}],
    ["minFeedback", { minFeedback: 0 }, {}],
    ["minGain", { minGain: 2 }, {}],
    ["maxLoss", { maxLoss: -1 }, {}],
    ["no folder", {}, { store: undefined }],
    ["one model", {}, { models: ["a", "b"] }],
    ["no candidate", { candidate: undefined }, {}],
  ])("refuses at the start: %s", async (words, changed, options) => {
    const canary = { share: 0.1, candidate: "x", ...changed };
    const given = { models: [`${first.url}/v1`], store: newFolder(), canary, ...options };
    await expect(createModelServer(given as unknown as ModelServerOptions)).rejects.toThrow(words);
  });

  it("keeps its state from a second server", async () => {
    const store = newFolder();
    await using holder = await open(store);
    expect(holder.models).toEqual(["shop"]);
    await expect(open(store)).rejects.toMatchObject({ code: "RUN_LOCKED" });
  });
});
