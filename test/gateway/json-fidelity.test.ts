/** JSON keeps its digits and the order of its keys from request to prompt, server, store and back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { encodeNow, buildTokens, markup } from "../../src/models/renderers/token-builder.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { createMemoryTraceStore } from "../../src/gateway/store/memory-trace-store.ts";
import { createSqliteTraceStore } from "../../src/gateway/store/sqlite/sqlite-trace-store.ts";
import { toolJson } from "../../src/core/tool-json.ts";
import { createScriptedSampler } from "../../src/testing/index.ts";
import { writeExact } from "../../src/util/exact-json.ts";
import { loadReal } from "../renderers/real-tokenizers.ts";
import { createTestGateway, userSays } from "./function-client.ts";
import { openWorld, responseProbe, serveHttp } from "./http-world.ts";

/** What JavaScript's values lose something of. */
const schemas: readonly (readonly [string, string])[] = [
  ["a fraction of zero", '{"type":"number","minimum":0.0,"maximum":1.0}'],
  ["an exponent", '{"type":"number","multipleOf":1e-07,"maximum":1E3}'],
  ["an integer above 2^53", '{"type":"integer","maximum":9007199254740993}'],
  ["more digits than a double has", '{"const":0.1234567890123456789}'],
  ["minus zero", '{"enum":[-0.0,-0,0]}'],
  ["keys that look like numbers", '{"properties":{"b":{},"10":{},"2":{}}}'],
  ["deep inside", '{"items":{"anyOf":[{"properties":{"a":{"default":[2.50]}}}]}}'],
];
const kept = '{"type":"object","properties":{"a":{"type":"number","minimum":0.5,"maximum":-12}}}';

const places: readonly (readonly [string, (schema: string) => string])[] = [
  [
    "/chat/completions",
    (schema) =>
      `{"messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
  ],
  [
    "/responses",
    (schema) => `{"tools":[{"type":"function","name":"f","parameters":${schema}}],"input":"q"}`,
  ],
  [
    "/messages",
    (schema) =>
      `{"max_tokens":9,"tools":[{"name":"f","input_schema":${schema}}],"messages":[{"role":"user","content":"1.0"}]}`,
  ],
];

async function tracesOf(path: string, body: string) {
  const store = createMemoryTraceStore();
  const gateway = createTestGateway(() => "ok", {}, { store });
  const session = await gateway.open();
  await session.complete(body, path);
  const { traces } = await store.page({ sessionUid: "session-0", limit: 1 });
  const wire = await gateway.admin("GET", "/sessions/session-0/traces");
  return { trace: traces[0]!, wire: await wire.text() };
}

describe("the schema of a tool", () => {
  it.each(schemas)("keeps %s", async (_name, schema) => {
    for (const [path, body] of places) {
      // oxlint-disable-next-line no-await-in-loop
      const { trace, wire } = await tracesOf(path, body(schema));
      expect([path, trace.tools[0]?.parametersText]).toEqual([path, schema]);
      expect(writeExact(toolJson(trace.tools[0]!))).toBe(`{"name":"f","parameters":${schema}}`);
      // A trace on the wire is JSON as well.
      expect(wire).toContain(`"function":{"name":"f","parameters":${schema}}`);
      expect(wire).not.toContain("parametersText");
    }
  });

  it("has no text where nothing is lost, or another field loses something", async () => {
    for (const [path, body] of places) {
      const request = body(kept).replace("{", '{"temperature":1.0,"metadata":{"n":1.0},');
      // oxlint-disable-next-line no-await-in-loop
      expect((await tracesOf(path, request)).trace.tools[0]).toEqual({
        name: "f",
        parameters: JSON.parse(kept),
      });
    }
  });

  it("has one only for the tools that need it, and the last of two fields of one name", async () => {
    const tool = (name: string, schema: string): string =>
      `{"type":"function","function":{"name":"${name}","parameters":${schema}}}`;
    const [lost] = schemas[0]!.slice(1);
    const body = `{"tools":[${tool("x", lost!)}],"messages":[{"role":"user","content":"q"}],"tools":[ ${tool("a", kept)} , ${tool("b", lost!)} ]}`;
    const { trace } = await tracesOf("/chat/completions", body);
    expect(trace.tools.map(({ parametersText }) => parametersText)).toEqual([undefined, lost]);
    const once = `{"tools":[${tool("x", lost!)}],"messages":[{"role":"user","content":"q"}],"tools":[${tool("a", kept)}]}`;
    const last = await tracesOf("/chat/completions", once);
    expect(last.trace.tools[0]?.parametersText).toBeUndefined();
  });

  it("is repeated by the Responses API as it came", async () => {
    const session = await createTestGateway(() => "ok").open();
    const [path, body] = places[1]!;
    for (const [, schema] of schemas) {
      for (const stream of ["false", "true"]) {
        const request = body(schema).replace("{", `{"stream":${stream},`);
        // oxlint-disable-next-line no-await-in-loop
        expect(await (await session.post(request, { path })).text()).toContain(
          `"tools":[{"type":"function","name":"f","parameters":${schema}}]`,
        );
      }
    }
  });

  it("is kept by a store, whose rows share what is equal", async () => {
    const folder = mkdtempSync(join(tmpdir(), "json-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "traces.sqlite");
    const store = createSqliteTraceStore(path);
    const gateway = createTestGateway(() => "ok", {}, { store });
    const session = await gateway.open();
    const tools = [
      '{"properties":{"a":{},"b":{}}}',
      '{"properties":{"b":{},"a":{}}}',
      '{"properties":{"b":{},"2":{},"1":{}}}',
      '{"properties":{"b":{},"1":{},"2":{}}}',
      '{"minimum":1}',
      '{"minimum":1.0}',
    ];
    for (const schema of tools) {
      // oxlint-disable-next-line no-await-in-loop
      await session.complete(places[0]![1](schema));
    }
    await gateway.gateway.close();
    await store.close();
    const reopened = createSqliteTraceStore(path);
    const { traces } = await reopened.page({ sessionUid: "session-0", limit: 10 });
    await reopened.close();
    expect(
      traces.map(({ tools: [tool] }) => tool!.parametersText ?? JSON.stringify(tool!.parameters)),
    ).toEqual(tools);
  });

  it("reaches servers, with the format of the response", async () => {
    let text = "";
    await using server = await serveHttp((request, response) => {
      if (responseProbe(request, response)) return;
      void readText(request).then((body) => {
        text = body;
        const message = { role: "assistant", content: "ok" };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
      });
    });
    const worker = { url: `${server.url}/v1`, kind: "openai", modelName: "m" } as const;
    await using world = await openWorld({ workers: [worker] });
    const format = '{"type":"json_schema","json_schema":{"name":"answer","schema":HERE}}';
    const { baseUrl, apiKey } = world.session;
    for (const [, schema] of schemas) {
      const own = `{"response_format":${format.replace("HERE", schema)},"chat_template_kwargs":{"x":1.0},`;
      // oxlint-disable-next-line no-await-in-loop
      const response = await fetch(`${baseUrl}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}` },
        body: places[0]![1](schema).replace("{", own),
      });
      expect(response.status).toBe(200);
      expect(text).toContain(`"function":{"name":"f","parameters":${schema}}`);
      expect(text).toContain(`"response_format":${format.replace("HERE", schema)}`);
      expect(text).toContain('"chat_template_kwargs":{"x":1.0}');
      expect(text).not.toContain("parametersText");
    }
  });
});

describe("arguments that are an object", () => {
  it.each(schemas)("keep %s", async (_name, input) => {
    const body = `{"max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]}`;
    const { trace } = await tracesOf("/messages", body);
    expect(trace.messages[1]?.toolCalls?.[0]?.arguments).toBe(input);
  });
});

/** A gateway whose model is Qwen 3's renderer, with what it is to say. */
async function serveQwen(says: () => string) {
  const { tokenizer, config } = loadReal("qwen3");
  const renderer = chooseRenderer(tokenizer, config, {}, "qwen3");
  const [end] = renderer.stop.tokenIds;
  const sampler = createScriptedSampler(
    () => [...encodeNow(tokenizer, buildTokens(tokenizer, [markup(says())])), end!],
    { decode: (tokens) => tokenizer.decode(tokens) },
  );
  const gateway = createGateway({ target: { kind: "sampler", sampler, renderer }, model: "m" });
  onTestFinished(() => gateway.close());
  await gateway.listen();
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  const post = async (path: string, body: object) => {
    const response = await fetch(session.baseUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${session.apiKey}` },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return { json: JSON.parse(await response.text()), headers: response.headers };
  };
  return { renderer, session, post };
}

const callText = (text: string): string =>
  `<tool_call>\n{"name": "f", "arguments": ${text}}\n</tool_call>`;

describe("a continuation", () => {
  /** What the model wrote, and what the client gives back of it. */
  const same: readonly (readonly [string, string, string])[] = [
    ["sorted keys", '{"b": 1, "a": 2}', '{"a":2,"b":1}'],
    [
      "sorted keys inside",
      '{"x": [{"b": 1, "a": {"d": 1, "c": 2}}]}',
      '{"x":[{"a":{"c":2,"d":1},"b":1}]}',
    ],
    ["keys that look like numbers", '{"10": 1, "b": 2, "2": 3}', '{"2":3,"10":1,"b":2}'],
    ["a fraction of zero", '{"b": 1.0, "a": null}', '{"b":1,"a":null}'],
    ["another exponent", '{"b": 1e-07, "c": 1E3}', '{"b":1e-7,"c":1000}'],
    [
      "what JavaScript makes of a long integer",
      '{"b": 9007199254740993}',
      '{"b":9007199254740992}',
    ],
    ["other spaces and escapes", '{"b": "é/"}', '{ "b" : "\\u00e9\\/" }'],
    ["no arguments", "{}", ""],
  ];
  it.each(same)("knows %s", async (_name, said, back) => {
    let answer = callText(said);
    const { session, post } = await serveQwen(() => answer);
    const question = userSays("q");
    const body = { model: "m", tools: [{ type: "function", function: { name: "f" } }] };
    const first = await post("/chat/completions", { ...body, messages: [question] });
    const message = first.json.choices[0].message;
    const calls = message.tool_calls.map((call: object) => ({
      ...call,
      function: { name: "f", arguments: back },
    }));
    answer = "ok";
    const result = { role: "tool", tool_call_id: calls[0].id, content: "r" };
    const next = [question, { ...message, tool_calls: calls }, result];
    await post("/chat/completions", { ...body, messages: next });
    const traces = await session.traces();
    expect(traces[1]?.parentId).toBe(traces[0]?.id);
    // What is trained on is what was sampled.
    const both = [...traces[0]!.promptIds, ...traces[0]!.responseIds];
    expect([...traces[1]!.promptIds.subarray(0, both.length)]).toEqual(both);
  });

  it.each([
    ["another value", '{"a": 1}', '{"a":2}'],
    ["another key", '{"a": 1}', '{"b":1}'],
    ["another order of a list", '{"a": [1, 2]}', '{"a":[2,1]}'],
    ["a number for its text", '{"a": 1}', '{"a":"1"}'],
    ["false for null", '{"a": null}', '{"a":false}'],
    ["one key less", '{"a": 1, "b": null}', '{"a":1}'],
  ])("is not one with %s", async (_name, said, back) => {
    let answer = callText(said);
    const { session, post } = await serveQwen(() => answer);
    const question = userSays("q");
    const tools = [{ name: "f", input_schema: { type: "object" } }];
    const body = { model: "m", max_tokens: 99, tools, thinking: { type: "disabled" } };
    const first = await post("/messages", { ...body, messages: [question] });
    const [use] = first.json.content;
    answer = "ok";
    const content = [{ ...use, input: JSON.parse(back) }];
    const result = [{ type: "tool_result", tool_use_id: use.id, content: "r" }];
    const next = [question, { role: "assistant", content }, { role: "user", content: result }];
    await post("/messages", { ...body, messages: next });
    expect((await session.traces())[1]?.parentId).toBeNull();
  });
});

describe("thinking, where a model has the choice", () => {
  const off = "<think>\n\n</think>\n\n";
  it.each<readonly [string, object, boolean]>([
    ["/chat/completions", { chat_template_kwargs: { enable_thinking: false } }, false],
    ["/chat/completions", { reasoning_effort: "none" }, false],
    ["/chat/completions", { reasoning_effort: "minimal" }, false],
    ["/chat/completions", { reasoning_effort: "low" }, true],
    ["/chat/completions", { thinking: { type: "disabled" } }, false],
    ["/responses", { reasoning: { effort: "none" } }, false],
    ["/responses", { reasoning: { effort: "high" } }, true],
    ["/messages", { thinking: { type: "disabled" } }, false],
    ["/messages", { thinking: { type: "enabled", budget_tokens: 1024 } }, true],
    ["/messages", {}, true],
  ])("%s %j", async (path, fields, thinks) => {
    const { renderer, session, post } = await serveQwen(() => "ok");
    const base = path === "/responses" ? { input: "q" } : { messages: [userSays("q")] };
    const { headers } = await post(path, { max_tokens: 9, ...base, ...fields });
    const [trace] = await session.traces();
    expect(renderer.inspect!(trace!.promptIds).endsWith(off)).toBe(!thinks);
    expect(headers.get("x-agent-trainer-unenforced")).toBeNull();
  });

  it("is counted in the tokens of the response", async () => {
    const { renderer, session, post } = await serveQwen(
      () => "<think>\nsome thoughts here\n</think>\n\nok",
    );
    const responses = await post("/responses", { input: "q" });
    const chat = await post("/chat/completions", { messages: [userSays("q")] });
    const [trace] = await session.traces();
    const texts = Array.from(trace!.responseIds, (id) => renderer.decode(Int32Array.of(id)));
    const counted = texts.findIndex((text) => text.includes("here")) + 1;
    expect(counted).toBeGreaterThan(3);
    expect(responses.json.usage.output_tokens_details.reasoning_tokens).toBe(counted);
    expect(chat.json.usage.completion_tokens_details.reasoning_tokens).toBe(counted);
    const stream = await post("/responses", { input: "q", reasoning: { effort: "none" } });
    expect(stream.json.usage.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  });

  it.each(["a 🫠 b", "𠜎", "ok 👩‍👩‍👧 é", "abc def", "漢字かな交じり文"])(
    "joins bytes to %j",
    async (text) => {
      const { post } = await serveQwen(() => text);
      const chat = await post("/chat/completions", { messages: [userSays("q")], logprobs: true });
      const { logprobs, message } = chat.json.choices[0];
      const joined = (items: readonly { readonly bytes: number[] }[]): string =>
        Buffer.from(items.flatMap(({ bytes }) => bytes)).toString();
      expect([joined(logprobs.content), message.content]).toEqual([text, text]);
      const include = ["message.output_text.logprobs"];
      const { json } = await post("/responses", { input: "q", include });
      const part = json.output.find(({ type }: { type: string }) => type === "message").content[0];
      expect([joined(part.logprobs), part.text]).toEqual([text, text]);
      const raw = await post("/completions", { prompt: "q", logprobs: 1 });
      const { text_offset: offsets, tokens } = raw.json.choices[0].logprobs;
      // Where each token begins that is whole.
      for (const [i, token] of (tokens as string[]).entries()) {
        if (token !== "" && !token.includes("\uFFFD"))
          expect(text.slice(offsets[i], offsets[i] + token.length)).toBe(token);
      }
    },
  );
});
