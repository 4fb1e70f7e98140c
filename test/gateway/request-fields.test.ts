/** What becomes of each field of a request: supported, refused in the protocol's own way, or told. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { chatFields } from "../../src/gateway/routes/chat/refusals.ts";
import { completionsFields } from "../../src/gateway/routes/completions/request.ts";
import { messagesFields } from "../../src/gateway/routes/messages/request.ts";
import { responsesFields } from "../../src/gateway/routes/responses/request.ts";
import type { FieldTable } from "../../src/gateway/routes/fields/field-table.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { createTestGateway, userSays } from "./function-client.ts";

const messages = [userSays("q")];

describe("Anthropic's tool runner", () => {
  const call = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';

  async function run(stream: boolean) {
    const target = createScriptedTarget(({ index }) => (index === 0 ? call : "done"));
    await using gateway = createGateway({ target, model: "m" });
    await gateway.listen();
    const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
    const { apiKey, baseUrl: baseURL } = session;
    const client = new Anthropic({ apiKey, authToken: null, baseURL, maxRetries: 0 });
    const add = betaTool({
      name: "add",
      description: "adds",
      inputSchema: { type: "object", properties: { a: { type: "number" } } },
      run: ({ a }) => `sum ${String(a)}`,
    });
    const runner = client.beta.messages.toolRunner({
      model: "m",
      max_tokens: 200,
      stream,
      messages: [{ role: "user", content: "add one" }],
      tools: [add],
    });
    const last = await runner.runUntilDone();
    return { last, traces: await session.traces() };
  }

  it.each([false, true])("replays the whole conversation (streamed: %s)", async (stream) => {
    const { last, traces } = await run(stream);
    expect(last.content).toMatchObject([{ type: "text", text: "done" }]);
    expect(traces.map(({ messages: said }) => said.map(({ role }) => role))).toEqual([
      ["user"],
      ["user", "assistant", "tool"],
    ]);
    expect(traces[1]?.parentId).toBe(traces[0]?.id);
    expect(traces[1]?.messages[2]).toMatchObject({ content: "sum 1" });
  });

  it("is told in the words that it knows", async () => {
    const session = await createTestGateway(() => "a").open();
    for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
      const body = { messages, max_tokens: 9, thread };
      const response = await session.post(body, { path: "/messages" });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        type: "error",
        error: {
          type: "invalid_request_error",
          details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
        },
      });
    }
    expect(await session.traces()).toEqual([]);
  });
});

describe("fields that change the meaning of a request are refused by name", () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ["/messages", { context_management: { edits: [{ type: "x" }] } }, "context_management"],
    ["/messages", { compaction: { type: "auto" } }, "compaction"],
    ["/messages", { container: "c" }, "container"],
    ["/responses", { truncation: "auto" }, "truncation"],
    ["/responses", { context_management: [{ type: "compaction" }] }, "context_management"],
    ["/responses", { previous_response_id: "resp_x" }, "resp_x"],
    ["/chat/completions", { truncate_prompt_tokens: 10 }, "truncate_prompt_tokens"],
    ["/chat/completions", { allowed_token_ids: [1] }, "allowed_token_ids"],
    ["/chat/completions", { repeat_penalty: 1.1 }, "repeat_penalty"],
    ["/completions", { suffix: "x" }, "suffix"],
  ];
  it.each(cases)("%s %j", async (path, field, named) => {
    const session = await createTestGateway(() => "a").open();
    const base = { messages, input: "q", prompt: "q", max_tokens: 9 };
    const { input, prompt, ...chat } = base;
    const body = path === "/responses" ? { input } : path === "/completions" ? { prompt } : chat;
    const response = await session.post({ ...body, ...field }, { path });
    expect(response.status).toBe(400);
    const told = (await response.json()) as { error: { message: string } };
    expect(told.error.message).toContain(named);
    expect(await session.traces()).toEqual([]);
  });

  it("unless the value asks for nothing", async () => {
    const session = await createTestGateway(() => "a").open();
    const edits = [{ type: "clear_thinking_20251015", keep: "all" }];
    const body = { messages, max_tokens: 9, thread: null, context_management: { edits } };
    expect((await session.post(body, { path: "/messages" })).status).toBe(200);
    const responses = { input: "q", truncation: "disabled", context_management: [] };
    expect((await session.post(responses, { path: "/responses" })).status).toBe(200);
  });

  it("and a format says what to use instead", async () => {
    const session = await createTestGateway(() => "a").open();
    const response = await session.post({ messages, guided_json: { type: "object" } });
    const told = (await response.json()) as { error: { message: string } };
    expect(told.error.message).toContain("response_format");
  });
});

describe("fields without an effect", () => {
  it("are told once each and counted, those for the provider's books are not", async () => {
    const warnings: string[] = [];
    const gateway = createTestGateway(() => "a", {}, { onWarning: (text) => warnings.push(text) });
    for (let i = 0; i < 3; i++) {
      const session = await gateway.open();
      await session.complete({ messages, user: "u", moderation: "low", my_field: 1 });
      await session.complete({ messages, parallel_tool_calls: true, verbosity: null });
    }
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('"moderation"');
    expect(warnings[1]).toContain('"my_field"');
    const metrics = await (await gateway.admin("GET", "/metrics")).text();
    expect(metrics).toContain('ignored_fields_total{protocol="openai-chat",field="my_field"} 3');
    expect(metrics).not.toContain('field="user"');
  });

  it("are told by their place where they stand in another", async () => {
    const warnings: string[] = [];
    const gateway = createTestGateway(() => "a", {}, { onWarning: (text) => warnings.push(text) });
    const session = await gateway.open();
    const text = { format: { type: "text" }, verbosity: "low" };
    await session.complete({ input: "q", text, reasoning: {} }, "/responses");
    const requested = { messages, max_tokens: 9, output_config: { effort: "low" }, thinking: null };
    await session.complete(requested, "/messages");
    expect(warnings.map((warning) => /"(.*?)"/.exec(warning)?.[1])).toEqual([
      "text.verbosity",
      "output_config.effort",
    ]);
  });

  it("have no way to fill the memory with their names", async () => {
    const warnings: string[] = [];
    const gateway = createTestGateway(() => "a", {}, { onWarning: (text) => warnings.push(text) });
    const session = await gateway.open();
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field_${i}`, 1]));
    await session.complete({ messages, ...many, ["x".repeat(10_000)]: 1 });
    expect(warnings).toHaveLength(256);
    const metrics = await (await gateway.admin("GET", "/metrics")).text();
    expect(metrics).toContain('field="other"} 745');
  });
});

/** Fields of the parameters of an official client, read from its declarations. */
function officialFields(file: string, name: string): readonly string[] {
  const modules = join(import.meta.dirname, "../../node_modules");
  const text = readFileSync(join(modules, file), "utf8");
  const start = text.indexOf(`export interface ${name} `);
  const body = text.slice(start, text.indexOf("\n}", start));
  return [...body.matchAll(/^    (\w+)\??:/gm)].map(([, field]) => field as string);
}

describe("every field that an official client can send stands in the table", () => {
  const official: readonly (readonly [string, string, FieldTable])[] = [
    [
      "openai/resources/chat/completions/completions.d.ts",
      "ChatCompletionCreateParamsBase",
      chatFields,
    ],
    ["openai/resources/completions.d.ts", "CompletionCreateParamsBase", completionsFields],
    ["openai/resources/responses/responses.d.ts", "ResponseCreateParamsBase", responsesFields],
    [
      "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts",
      "MessageCreateParamsBase",
      messagesFields,
    ],
  ];
  it.each(official)("%s", (file, name, { supported, refused, ignored, silent }) => {
    const fields = officialFields(file, name);
    expect(fields.length).toBeGreaterThan(10);
    const known = new Set([
      ...supported,
      ...Object.keys(refused),
      ...Object.keys(ignored),
      ...silent,
    ]);
    expect(fields.filter((field) => !known.has(field))).toEqual([]);
  });
});

describe("docs/gateway-reference.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/gateway-reference.md"), "utf8");
  const rowOf = (name: string): readonly (readonly string[])[] => {
    const line = page.split("\n").find((each) => each.startsWith(`| ${name} | `)) ?? "";
    const [refused = "", ignored = ""] = line.split(" | ").slice(1);
    return [refused, ignored].map((cell) =>
      [...cell.matchAll(/`([\w.]+)`/g)].map(([, f]) => f as string),
    );
  };
  const [shared = []] = rowOf("all");

  it.each<readonly [string, FieldTable]>([
    ["Chat Completions", chatFields],
    ["Completions", completionsFields],
    ["Responses", responsesFields],
    ["Messages", messagesFields],
  ])("names what is refused and ignored of %s", (name, { refused, ignored }) => {
    const [ownRefused = [], ownIgnored = []] = rowOf(name);
    expect([...shared, ...ownRefused].sort()).toEqual(Object.keys(refused).sort());
    expect([...ownIgnored].sort()).toEqual(Object.keys(ignored).sort());
  });
});
