/** What clients of all kinds do that is not in the book: it works, or is refused with a sentence. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import OpenAI, { AzureOpenAI } from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { createGateway, type GatewayOptions } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { createTestGateway, origin, userSays, type WireError } from "./function-client.ts";

const messages = [{ role: "user" as const, content: "q" }];
const model = "scripted";

async function listen(said = "ok", options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({ target: createScriptedTarget(() => said), model, ...options });
  const { url } = await gateway.listen();
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  const { baseUrl: baseURL, apiKey } = session;
  return { gateway, url, session, baseURL, apiKey, [Symbol.asyncDispose]: () => gateway.close() };
}

describe("compressed bodies", () => {
  const packers = {
    gzip: gzipSync,
    "x-gzip": gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  };
  it.each(Object.entries(packers))("%s is read", async (encoding, pack) => {
    await using world = await listen();
    // As the SDKs' own fetch options let one do it.
    const client = new OpenAI({
      ...world,
      maxRetries: 0,
      fetch: (url, init) =>
        fetch(url, {
          ...init,
          body: pack(Buffer.from(init?.body as string)),
          headers: {
            ...Object.fromEntries(new Headers(init?.headers)),
            "content-encoding": encoding,
          },
        }),
    });
    const response = await client.chat.completions.create({ model, messages });
    expect(response.choices[0]?.message.content).toBe("ok");
  });

  it("are held to the limit by what they stand for", async () => {
    await using world = await listen("ok", { maxBodyBytes: 100_000 });
    const post = (body: Buffer<ArrayBuffer>, encoding: string): Promise<Response> =>
      fetch(`${world.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${world.apiKey}`, "content-encoding": encoding },
        body,
      });
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    expect(bomb.length).toBeLessThan(100_000);
    const tooLarge = await post(bomb, "gzip");
    expect(tooLarge.status).toBe(413);
    const broken = await post(Buffer.from("{}"), "gzip");
    expect(broken.status).toBe(400);
    expect(((await broken.json()) as WireError).error.message).toContain("is not gzip");
    const unknown = await post(Buffer.from("{}"), "snappy");
    expect(unknown.status).toBe(415);
    expect(((await unknown.json()) as WireError).error.message).toContain("gzip, deflate and br");
  });
});

describe("addresses", () => {
  it.each(["", "/", "//"])("base URLs may end in %j", async (end) => {
    await using world = await listen();
    const { apiKey } = world;
    const baseURL = world.baseURL + end;
    const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    expect((await openai.models.list()).data[0]?.id).toBe(model);
    const chat = await openai.chat.completions.create({ model, messages });
    expect(chat.choices[0]?.message.content).toBe("ok");
    const anthropic = new Anthropic({
      baseURL: world.baseURL.replace(/\/v1$/, "") + end,
      apiKey,
      authToken: null,
      maxRetries: 0,
    });
    const said = await anthropic.messages.create({ model, messages, max_tokens: 9 });
    expect(said.content[0]).toMatchObject({ text: "ok" });
  });

  it("errors keep the protocol's shape whatever the slashes", async () => {
    const session = await createTestGateway(() => "ok").open();
    for (const path of ["/messages/", "//messages", "//v1//messages//"]) {
      const response = await session.post({}, { path });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ type: "error" });
    }
  });

  it("slashes do not open what another path keeps shut", async () => {
    const { gateway, open } = createTestGateway(() => "ok");
    const { apiKey } = await open();
    for (const path of [
      "//sessions",
      "/sessions//",
      "//metrics/",
      "/admin//flush",
      "/sessions/session-0/",
    ]) {
      const headers = { authorization: `Bearer ${apiKey}` };
      expect((await gateway.fetch(new Request(origin + path, { headers }))).status).toBe(401);
    }
  });

  it("Azure's client names the model in the path and the key in a header of its own", async () => {
    await using world = await listen();
    const { baseURL, apiKey } = world;
    for (const deployment of ["gpt-x", "Qwen/Qwen3-4B"]) {
      const client = new AzureOpenAI({
        baseURL,
        apiKey,
        apiVersion: "2026-01-01",
        deployment,
        maxRetries: 0,
      });
      const chat = await client.chat.completions.create({ model: deployment, messages });
      expect(chat.choices[0]?.message.content).toBe("ok");
      const text = await client.completions.create({ model: deployment, prompt: "q" });
      expect(text.choices[0]?.text).toBe("ok");
      const response = await client.responses.create({ model: deployment, input: "q" });
      expect(response.output_text).toBe("ok");
    }
    const wrong = new AzureOpenAI({ baseURL, apiKey: "x", apiVersion: "1", maxRetries: 0 });
    await expect(wrong.chat.completions.create({ model, messages })).rejects.toThrow(/401/);
  });

  it("HEAD answers as GET does, without a body", async () => {
    await using world = await listen();
    const headers = { authorization: `Bearer ${world.apiKey}` };
    for (const [url, status] of [
      [`${world.url}/health`, 200],
      [`${world.baseURL}/models`, 200],
      [`${world.baseURL}/chat/completions`, 405],
      [`${world.url}/sessions`, 401],
      [`${world.url}/`, 404],
    ] as const) {
      const response = await fetch(url, { method: "HEAD", headers });
      expect([url, response.status, await response.text()]).toEqual([url, status, ""]);
    }
  });

  it("a proxy's scheme and host stand in the URL of a new session", async () => {
    const { gateway } = createTestGateway(() => "ok");
    const urlOf = async (headers: Record<string, string>): Promise<string> => {
      const authorization = `Bearer ${gateway.adminToken}`;
      const request = new Request(`${origin}/sessions`, {
        method: "POST",
        headers: { authorization, ...headers },
        body: "{}",
      });
      return new URL(((await (await gateway.fetch(request)).json()) as { url: string }).url).origin;
    };
    expect(await urlOf({})).toBe(origin);
    expect(await urlOf({ "x-forwarded-proto": "https" })).toBe("https://gateway.test");
    const proxied = { "x-forwarded-proto": "https, http", "x-forwarded-host": "rl.example:8443" };
    expect(await urlOf(proxied)).toBe("https://rl.example:8443");
    const odd = { "x-forwarded-proto": "javascript", "x-forwarded-host": "evil/../x?" };
    expect(await urlOf(odd)).toBe(origin);
  });
});

describe("what is not offered says so", () => {
  it.each<readonly [string, (client: OpenAI) => Promise<unknown>, number, RegExp]>([
    [
      "several prompts in one completions call",
      (client) => client.completions.create({ model, prompt: ["a", "b"] }),
      400,
      /several prompts.*one by one/,
    ],
    [
      "several prompts of ids",
      (client) => client.completions.create({ model, prompt: [[1], [2]] }),
      400,
      /several prompts.*one by one/,
    ],
    [
      "echo",
      (client) => client.completions.create({ model, prompt: "a", echo: true }),
      400,
      /echo=true.*Join the prompt and the response/,
    ],
    [
      "fetching a response again",
      (client) => client.responses.retrieve("resp_1"),
      404,
      /previous_response_id/,
    ],
    [
      "deleting a response",
      (client) => client.responses.delete("resp_1"),
      404,
      /previous_response_id/,
    ],
    [
      "embeddings",
      (client) => client.embeddings.create({ model, input: "a" }),
      404,
      /nothing at "embeddings".*chat\/completions/,
    ],
  ])("%s", async (_name, request, status, words) => {
    await using world = await listen();
    const client = new OpenAI({ ...world, maxRetries: 2 });
    const failure = (await request(client).catch((error: unknown) => error)) as InstanceType<
      typeof OpenAI.APIError
    >;
    expect(failure.status).toBe(status);
    expect(failure.message).toMatch(words);
    expect(await world.session.traces()).toEqual([]);
  });

  it("an answer that the agent has begun for the model", async () => {
    await using world = await listen();
    const { apiKey } = world;
    const baseURL = world.baseURL.replace(/\/v1$/, "");
    const client = new Anthropic({ baseURL, apiKey, authToken: null, maxRetries: 0 });
    const prefill = [...messages, { role: "assistant" as const, content: "I" }];
    const requested = client.messages.create({ model, messages: prefill, max_tokens: 9 });
    await expect(requested).rejects.toThrow(/End with a user message/);
  });
});

it("the stream helper of responses ends with what was said of an answer that was cut", async () => {
  await using world = await listen("a long answer");
  const client = new OpenAI({ ...world, maxRetries: 0 });
  const stream = client.responses.stream({ model, input: "q", max_output_tokens: 6 });
  const types: string[] = [];
  stream.on("event", ({ type }) => types.push(type));
  const response = await stream.finalResponse();
  expect(types.at(-1)).toBe("response.incomplete");
  expect(response.output_text).toBe("a long");
  expect([response.status, response.incomplete_details?.reason]).toEqual([
    "incomplete",
    "max_output_tokens",
  ]);
});

describe("JSON that is nested without end", () => {
  const depth = 100_000;
  const nested = "[".repeat(depth) + "]".repeat(depth);
  const user = JSON.stringify(userSays("q"));
  const bodies: readonly (readonly [string, string])[] = [
    ["/chat/completions", `{"messages":${nested}}`],
    ["/chat/completions", `{"messages":[{"role":"user","content":${nested}}]}`],
    ["/chat/completions", `{"messages":[${user}],"metadata":${nested}}`],
    ["/chat/completions", `{"messages":[${user}],"response_format":${nested}}`],
    [
      "/chat/completions",
      `{"messages":[${user}],"tools":[{"type":"function","function":{"name":"f","parameters":{"a":${nested}}}}]}`,
    ],
    ["/chat/completions", nested],
    ["/completions", `{"prompt":${nested}}`],
    ["/responses", `{"input":${nested}}`],
    ["/responses", `{"input":"q","tools":${nested}}`],
    ["/messages", `{"max_tokens":9,"messages":${nested}}`],
    ["/messages", `{"max_tokens":9,"messages":[${user}],"system":${nested}}`],
    ["/messages/count_tokens", `{"messages":${nested}}`],
  ];
  it.each(bodies)("is a 400 of %s", async (path, body) => {
    const errors: unknown[] = [];
    const gateway = createTestGateway(() => "ok", {}, { onError: (error) => errors.push(error) });
    const session = await gateway.open();
    const response = await session.post(body, { path });
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain("nested too deeply");
    expect(errors).toEqual([]);
  });

  it("is a 400 in the arguments of a tool call, or is read", async () => {
    const session = await createTestGateway(() => "ok").open();
    const called = { id: "c", type: "function", function: { name: "f", arguments: nested } };
    const said = [
      userSays("q"),
      { role: "assistant", content: null, tool_calls: [called] },
      { role: "tool", tool_call_id: "c", content: "r" },
    ];
    const first = await session.post({ messages: said });
    const second = await session.post({ messages: said });
    for (const { status } of [first, second]) expect([200, 400]).toContain(status);
  });

  it("is handed over as text where the model wrote it", async () => {
    const deep = `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`;
    const called = `<tool_call>\n{"name": "f", "arguments": ${deep}}\n</tool_call>`;
    const session = await createTestGateway(() => called).open();
    const tools = [{ name: "f", input_schema: { type: "object" } }];
    const request = { messages, max_tokens: 60_000, tools };
    for (const stream of [false, true]) {
      const response = await session.post({ ...request, stream }, { path: "/messages" });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("tool_use");
    }
    expect(await session.traces()).toHaveLength(2);
  });

  it("is a 400 of the admin's routes", async () => {
    const { gateway } = createTestGateway(() => "ok");
    const response = await gateway.fetch(
      new Request(`${origin}/sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.adminToken}` },
        body: `{"metadata":${nested}}`,
      }),
    );
    expect(response.status).toBe(400);
  });

  it("leaves deep schemas alone", async () => {
    const session = await createTestGateway(() => "ok").open();
    let schema: object = { type: "string" };
    for (let i = 0; i < 100; i++) schema = { type: "object", properties: { a: schema } };
    const tool = { type: "function", function: { name: "f", parameters: schema } };
    expect((await session.post({ messages, tools: [tool] })).status).toBe(200);
  });
});

describe("docs/gateway-reference.md", () => {
  /** Row of its table to the test that holds it, here or in the files that `sources` has. */
  const tests: Readonly<Record<string, string>> = {
    "compressed bodies": "are held to the limit by what they stand for",
    "trailing and double slashes": "base URLs may end in %j",
    "a slash in a session's id": "may be written as it is, or escaped",
    "the key": "Azure's client names the model in the path",
    "Azure's paths": "Azure's client names the model in the path",
    "`HEAD`": "HEAD answers as GET does",
    "`X-Forwarded-Proto`, `X-Forwarded-Host`": "a proxy's scheme and host",
    "several prompts in one completions call": "several prompts in one completions call",
    "`echo`": '"echo"',
    "a response that the agent has begun (Anthropic's prefill)": "has begun for the model",
    "`GET` or `DELETE` of `responses/{id}`": "fetching a response again",
    "a truncated response, in the stream of Responses": "the stream helper of responses ends",
    "`item_reference` in Responses": "are the turn that was captured",
    "`conversation` in Responses": "continues a conversation that was opened here",
    "`cache_control`, `anthropic-beta`, system messages inside `messages` (Anthropic)":
      "Anthropic's cache markers, beta headers",
    "the line `x-anthropic-billing-header: ...` in Anthropic's `system`":
      "a line for the provider's records before the system prompt",
    "how much a model is to reason (`reasoning_effort`, `thinking.budget_tokens`)":
      "which part of it has no effect",
    "a repetition of a call whose response was lost": "a response that is lost on its way",
    "a repetition of a call that was ended in the middle": "is captured once, and not trained on",
    "embeddings, files and all else of OpenAI's API": '"embeddings"',
  };

  it("says of each of these what happens, and of nothing else", () => {
    const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");
    const page = read("../../docs/gateway-reference.md");
    const start = page.indexOf("## What clients of all kinds send");
    const section = page.slice(start, page.indexOf("\n## ", start));
    const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell as string);
    expect(rows.slice(2)).toEqual(Object.keys(tests));
    const sources =
      read("client-compatibility.test.ts").split("docs/gateway-reference.md")[0] +
      read("open-gateway.test.ts") +
      read("item-references.test.ts") +
      read("field-forms.test.ts") +
      read("official-clients.test.ts") +
      read("agent-requests.test.ts");
    for (const name of Object.values(tests)) expect(sources).toContain(name);
  });
});
