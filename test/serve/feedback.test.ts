/** Served calls that are kept, and the feedback on them: by version, once, also over restarts. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { curate } from "../../src/production/curate/curate.ts";
import { readFeedback, readSpans } from "../../src/production/store/production-store.ts";
import { createModelServer, type ModelServer } from "../../src/launch/serve/model-server.ts";
import { createUpstream, type Upstream } from "../../src/testing/index.ts";
import { newFolder } from "../trainer/coin-run.ts";

let [first, second] = [] as unknown as [Upstream, Upstream];
beforeAll(async () => {
  first = await createUpstream({ kind: "openai", script: () => "one" });
  second = await createUpstream({ kind: "openai", script: () => "two" });
});
afterAll(() => Promise.all([first, second].map((one) => one[Symbol.asyncDispose]())));

const open = (store: string, upstream = first): Promise<ModelServer> =>
  createModelServer({ models: [{ name: "shop", model: `${upstream.url}/v1` }], store });

interface Answer {
  readonly text: string;
  readonly id: string;
  readonly version: string;
}

async function say(
  server: ModelServer,
  headers: Readonly<Record<string, string>> = {},
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

async function rate(server: ModelServer, feedback: unknown): Promise<[number, unknown]> {
  const body = typeof feedback === "string" ? feedback : JSON.stringify(feedback);
  const response = await server.fetch(
    new Request("http://127.0.0.1/feedback", { method: "POST", body }),
  );
  return [response.status, await response.json()];
}

async function metricsOf(server: ModelServer): Promise<string> {
  return (await server.fetch(new Request("http://127.0.0.1/metrics"))).text();
}

it("keeps calls with their version, and feedback once, also over a restart", async () => {
  const store = newFolder();
  let answer: Answer;
  const said = { user: "ann", thumb: "up" };
  {
    await using server = await open(store);
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    answer = await say(server, { "x-conversation-id": "c1", traceparent });
    expect(answer.version).toContain(first.url);
    const [span] = [...readSpans(store)];
    expect(span).toMatchObject({
      traceId: "ab".repeat(16),
      conversationId: "c1",
      model: { model: answer.version, responseId: answer.id, response: { content: answer.text } },
    });
    const up = { responseId: answer.id, ...said };
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
    expect(await metricsOf(server)).toContain("agent_trainer_serve_feedback_duplicates_total 1");
  }
  await using again = await open(store, second);
  // Ann changed her mind; what was said without a user is another voice.
  const label = JSON.stringify(answer.version);
  const metrics = await metricsOf(again);
  expect(metrics).toContain(`agent_trainer_serve_feedback{version=${label}} 2`);
  expect(metrics).toContain(`agent_trainer_serve_feedback_mean{version=${label}} 0.5`);
  const down = { responseId: answer.id, ...said, thumb: "down" };
  expect(await rate(again, down)).toEqual([
    200,
    { accepted: 0, duplicates: 1, versions: [answer.version] },
  ]);
});

it.each<[string, Readonly<Record<string, string>>, object, string | undefined, string | undefined]>(
  [
    ["the header", { "x-conversation-id": "c" }, {}, "c", undefined],
    ["the body", {}, { conversation: { id: "c" }, user: "ann" }, "c", "ann"],
    ["the metadata", {}, { metadata: { conversation_id: "c", user_id: "ann" } }, "c", "ann"],
    ["the newer name of the user", {}, { safety_identifier: "ann" }, undefined, "ann"],
    ["nothing", {}, { user: "" }, undefined, undefined],
  ],
)("records a conversation and a user as named by %s", async (_what, headers, fields, c, user) => {
  const store = newFolder();
  await using server = await open(store);
  await say(server, headers, fields);
  const [span] = [...readSpans(store)];
  expect([span?.conversationId, span?.user]).toEqual([c, user]);
});

it("keeps what the next round of training is made of, with the version of each answer", async () => {
  const store = newFolder();
  let last = "";
  for (const upstream of [first, second]) {
    await using server = await open(store, upstream);
    for (const name of ["a", "b"]) {
      const conversation = { "x-conversation-id": `${upstream.url} ${name}` };
      const key = "sk-abcdefgh12345678";
      const content = `Which of ${name}, with ${key}?`;
      const { id, text } = await say(server, conversation, {
        messages: [{ role: "user", content }],
      });
      await rate(server, { responseId: id, thumb: text === "one" ? "up" : "down" });
      last = id;
    }
  }
  {
    await using server = await open(store);
    await rate(server, { responseId: last, user: "ann", correction: "three" });
  }
  expect(JSON.stringify([...readSpans(store)])).not.toContain("sk-abc");
  const output = join(newFolder(), "data");
  const report = await curate({ folder: store, output, valFraction: 0 });
  const { records, matched, good, bad, corrections } = report.feedback;
  expect({ records, matched, good, bad, corrections }).toEqual({
    ...{ records: 5, matched: 5, good: 2, bad: 2, corrections: 1 },
  });
  const versions = Object.keys(report.models);
  expect(versions.some((version) => version.includes(first.url))).toBe(true);
  expect(versions.some((version) => version.includes(second.url))).toBe(true);
  expect(report.rows.feedback.train).toBe(4);
});

it.each([
  ["about nothing that was served", { responseId: "chatcmpl-0", thumb: "up" }, 404, "chatcmpl-0"],
  ["that says nothing", { responseId: "x" }, 400, "says nothing"],
  ["that is not JSON", "{", 400, "not JSON"],
  ["in too large a list", Array.from({ length: 1001 }, () => ({})), 413, "the limit"],
])("refuses feedback %s, and keeps none of it", async (_what, feedback, status, words) => {
  const store = newFolder();
  await using server = await open(store);
  const [found, body] = await rate(server, feedback);
  expect(found).toBe(status);
  expect(JSON.stringify(body)).toContain(words);
  expect([...readFeedback(store)]).toEqual([]);
});
