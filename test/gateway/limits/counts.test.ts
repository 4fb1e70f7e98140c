/** Many small things in one request: refused by their number, before any work on each of them. */
import { describe, expect, it, vi } from "vitest";
import type { Renderer } from "../../../src/core/policy.ts";
import { checkStructure, maxMembers } from "../../../src/gateway/http/json-fields.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";
import { createGateway } from "../../../src/gateway/index.ts";
import { userSays } from "../function-client.ts";

const many = (count: number, of: unknown): unknown[] => Array.from({ length: count }, () => of);
const say = userSays("");
const called = (count: number) => [
  userSays("a"),
  {
    role: "assistant",
    content: null,
    tool_calls: many(count, { id: "a", function: { name: "f", arguments: "{}" } }),
  },
  userSays("b"),
];
const most = 10_000;

/** What a body of `count` entries is, and what the refusal names. */
const places: readonly (readonly [string, string, (count: number) => object, string])[] = [
  ["messages", "/chat/completions", (n) => ({ messages: many(n, say) }), "messages"],
  [
    "parts",
    "/chat/completions",
    (n) => ({ messages: [{ role: "user", content: many(n, { type: "text", text: "" }) }] }),
    "messages[0].content",
  ],
  ["tool calls", "/chat/completions", (n) => ({ messages: called(n) }), "messages[1].tool_calls"],
  [
    "tools",
    "/chat/completions",
    (n) => ({ messages: [say], tools: many(n, { type: "function", function: { name: "f" } }) }),
    "tools",
  ],
  ["input items", "/responses", (n) => ({ input: many(n, say) }), "input"],
  [
    "references",
    "/responses",
    (n) => ({ input: many(n, { type: "item_reference", id: "msg_1" }) }),
    "input",
  ],
  [
    "parts of an item",
    "/responses",
    (n) => ({ input: [{ role: "user", content: many(n, { type: "input_text", text: "" }) }] }),
    "input[0].content",
  ],
  [
    "tools of Responses",
    "/responses",
    (n) => ({ input: "a", tools: many(n, { type: "function", name: "f" }) }),
    "tools",
  ],
  ["a conversation's items", "/conversations", (n) => ({ items: many(n, say) }), "items"],
  [
    "Anthropic's messages",
    "/messages",
    (n) => ({ max_tokens: 1, messages: many(n, userSays("a")) }),
    "messages",
  ],
  [
    "Anthropic's blocks",
    "/messages",
    (n) => ({
      max_tokens: 1,
      messages: [{ role: "user", content: many(n, { type: "text", text: "" }) }],
    }),
    "messages[0].content",
  ],
  [
    "Anthropic's system blocks",
    "/messages",
    (n) => ({ max_tokens: 1, system: many(n, { type: "text", text: "" }), messages: [say] }),
    "system",
  ],
  [
    "messages to be counted",
    "/messages/count_tokens",
    (n) => ({ messages: many(n, userSays("a")) }),
    "messages",
  ],
];

/** Requests to a gateway whose renderer counts what it is given. */
async function openCounted() {
  const target = createScriptedTarget(() => "ok", { contextLength: 10_000_000 });
  const rendered = vi.fn<Renderer["render"]>(target.renderer.render);
  const renderer = { ...target.renderer, render: rendered };
  const gateway = createGateway({ target: { ...target, renderer }, model: "scripted" });
  await gateway.listen();
  const session = await gateway.sessions.open({ uid: "counted", seed: 1, sampling: {} });
  const post = (path: string, body: string) =>
    gateway.fetch(
      new Request(session.baseUrl + path, {
        method: "POST",
        headers: { authorization: `Bearer ${session.apiKey}` },
        body,
      }),
    );
  return { post, rendered, traces: () => session.traces(), gateway };
}

describe("a list that is too long", () => {
  it.each(places)("%s", async (_name, path, body, at) => {
    const { post, rendered, traces, gateway } = await openCounted();
    const refused = await post(path, JSON.stringify(body(most + 1)));
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(error.message).toContain(`${at} holds ${most + 1} entries, but ${most} are the most`);
    expect(refused.status).toBe(400);
    expect(rendered).not.toHaveBeenCalled();
    expect(await traces()).toEqual([]);
    await gateway.close();
  });

  it("is one in Responses also where each request alone is short enough", async () => {
    const { post, traces, gateway } = await openCounted();
    const first = await post("/responses", JSON.stringify({ input: many(most - 1, say) }));
    const { id } = (await first.json()) as { id: string };
    const next = (count: number) =>
      post("/responses", JSON.stringify({ input: many(count, say), previous_response_id: id }));
    expect((await next(1)).status).toBe(400);
    expect(await traces()).toHaveLength(1);
    await gateway.close();
  });
});

describe("a request that holds too much", () => {
  it.each(places)("is refused before it is parsed: %s", async (_name, path, body) => {
    const text = JSON.stringify(body(300_000));
    const { post, rendered, gateway } = await openCounted();
    const parse = vi.spyOn(JSON, "parse");
    const refused = await post(path, text).finally(() => {
      expect(parse.mock.calls.filter(([given]) => given.length > 1000)).toEqual([]);
      parse.mockRestore();
    });
    expect([refused.status, rendered.mock.calls.length]).toEqual([400, 0]);
    expect(await refused.text()).toContain(`more than ${maxMembers} objects, lists and fields`);
    await gateway.close();
  });

  it("counts what is outside of strings only", () => {
    const inString = '{"[:,'.repeat(maxMembers);
    expect(() =>
      checkStructure(JSON.stringify({ a: inString, b: `\\${inString}\\` })),
    ).not.toThrow();
    expect(() => checkStructure(JSON.stringify(many(maxMembers, 1)))).not.toThrow();
    expect(() => checkStructure(JSON.stringify(many(maxMembers, [])))).toThrow(/objects, lists/);
    expect(() => checkStructure(JSON.stringify(many(2 ** 21 + 2, 1)))).toThrow(/2097152 values/);
    const fields = Object.fromEntries(Array.from({ length: maxMembers }, (_, i) => [i, 1]));
    expect(() => checkStructure(JSON.stringify(fields))).toThrow(/objects, lists/);
    // A string without an end, and brackets without a beginning: not JSON, and not for ever.
    expect(() => checkStructure(`["${"\\".repeat(100_001)}"`)).not.toThrow();
    expect(() => checkStructure("]".repeat(100_000))).not.toThrow();
  });
});
