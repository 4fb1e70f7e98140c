/** What agents send beyond text: forms of responses, conversations, a transport that is not there. */
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LocalBackend } from "../../src/backends/local/backend.ts";
import type { Trace } from "../../src/core/trace.ts";
import { createGateway, type Gateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";

const answer = z.object({ city: z.enum(["Rome", "Oslo"]), count: z.number().int().min(0).max(9) });
const parameters = {
  type: "object",
  properties: { item: { enum: ["tea", "milk"] } },
  required: ["item"],
  additionalProperties: false,
};
const tools = ["price", "stock"].map((name) => ({
  type: "function" as const,
  function: { name, strict: true, parameters },
}));
const messages = [{ role: "user" as const, content: "What is it?" }];

async function clientOf(
  gateway: Gateway,
): Promise<{ client: OpenAI; traces: () => Promise<readonly Trace[]> }> {
  const session = await gateway.sessions.open({
    uid: crypto.randomUUID(),
    seed: 1,
    sampling: { maxTokens: 60 },
  });
  const client = new OpenAI({ baseURL: session.baseUrl, apiKey: session.apiKey, maxRetries: 0 });
  return { client, traces: () => session.traces() };
}

describe("with the embedded engine", () => {
  let backend: LocalBackend;
  let gateway: Gateway;
  const warnings: string[] = [];
  beforeAll(async () => {
    backend = new LocalBackend({ threads: 1 });
    const model = { name: "builtin:shop-tiny", lora: { rank: 1, alpha: 1 } };
    const target = await backend.start({ seed: 1, model, signal: new AbortController().signal });
    const onWarning = (text: string): void => void warnings.push(text);
    gateway = createGateway({ target, model: "tiny", onWarning });
    await gateway.listen();
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
  });

  it("response_format is enforced, and what enforced it is captured", async () => {
    const { client, traces } = await clientOf(gateway);
    const { choices } = await client.chat.completions.parse({
      ...{ model: "tiny", messages, n: 4 },
      response_format: zodResponseFormat(answer, "answer"),
    });
    for (const { message } of choices) expect(answer.safeParse(message.parsed).success).toBe(true);
    const [trace] = await traces();
    expect(trace!.sampling.rules?.grammar).toMatchObject({ type: "json" });
    expect(trace!.unmet).toBeUndefined();
  });

  it("text.format of the Responses API is enforced", async () => {
    const { client } = await clientOf(gateway);
    const schema = z.toJSONSchema(answer) as Record<string, unknown>;
    const format = { type: "json_schema", name: "answer", strict: true, schema } as const;
    const { output_text } = await client.responses.create({
      model: "tiny",
      input: "q",
      text: { format },
    });
    expect(answer.safeParse(JSON.parse(output_text)).success).toBe(true);
  });

  it("what is not enforced is said with each call, whole or streamed, and as a warning once", async () => {
    const schema = {
      type: "object",
      properties: {
        tags: { type: "array", items: { enum: ["x", "y"] }, maxItems: 2, uniqueItems: true },
        ünk: { type: "string", maxLength: 3, not: { const: "no" } },
      },
      required: ["tags"],
      additionalProperties: false,
    };
    const asked = [
      'response_format #/properties/tags: the keyword "uniqueItems"',
      'response_format #/properties/ünk: the keyword "not"',
      'tool price #/properties/at: format "uri"',
    ];
    const before = warnings.length;
    const { client, traces } = await clientOf(gateway);
    const at = { type: "object", properties: { at: { type: "string", format: "uri" } } };
    for (const stream of [false, true, false]) {
      const { response } = await client.chat.completions
        .create({
          ...{ model: "tiny", messages, stream, parallel_tool_calls: stream },
          tools: [{ type: "function", function: { name: "price", strict: true, parameters: at } }],
          response_format: { type: "json_schema", json_schema: { name: "a", schema } },
        })
        .withResponse();
      expect(response.headers.get("x-agent-trainer-unenforced")).toBe(
        asked.join("; ").replace("ü", "\\u{fc}"),
      );
      await response.text().catch(() => "");
    }
    await expect.poll(async () => (await traces()).length).toBe(3);
    for (const { unenforced } of await traces()) expect(unenforced).toEqual(asked);
    const told = warnings.slice(before);
    expect(told.map((text) => asked.findIndex((one) => text.includes(one)))).toEqual([0, 1, 2]);
  });

  it("a tool call that max_tokens excludes is said once, with the number that allows it", async () => {
    const { client, traces } = await clientOf(gateway);
    const response_format = zodResponseFormat(answer, "answer");
    const before = warnings.length;
    const needed = async (max_tokens: number): Promise<number | undefined> => {
      const from = (await traces()).length;
      await client.chat.completions.create({
        ...{ model: "tiny", messages, tools, response_format, max_tokens },
      });
      return (await traces())[from]!.neededTokens;
    };
    const enough = (await needed(12))!;
    expect(enough).toBeGreaterThan(12);
    expect(await needed(12)).toBe(enough);
    expect(await needed(enough - 1)).toBe(enough);
    expect(await needed(enough)).toBeUndefined();
    const told = warnings.slice(before);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(`max_tokens ${enough} or more`);
  });

  it("nothing is said where all is enforced", async () => {
    const { client, traces } = await clientOf(gateway);
    const response_format = zodResponseFormat(answer, "answer");
    const { response } = await client.chat.completions
      .create({ model: "tiny", messages, tools, response_format, tool_choice: "required" })
      .withResponse();
    expect(response.headers.get("x-agent-trainer-unenforced")).toBeNull();
    expect((await traces())[0]!.unenforced).toBeUndefined();
  });

  it.each([
    ["required", "required", ["price", "stock"]],
    ["a named tool", { type: "function", function: { name: "stock" } }, ["stock"]],
  ] as const)(
    "tool_choice %s is enforced, with strict arguments",
    async (_, tool_choice, names) => {
      const { client } = await clientOf(gateway);
      const { choices } = await client.chat.completions.create({
        ...{ model: "tiny", messages, tools, tool_choice, n: 3, parallel_tool_calls: false },
      });
      for (const { message, finish_reason } of choices) {
        expect(finish_reason).toBe("tool_calls");
        expect(message.tool_calls).toHaveLength(1);
        const [call] = message.tool_calls!;
        const { name, arguments: text } = (
          call as { function: { name: string; arguments: string } }
        ).function;
        expect(names).toContain(name);
        expect(["tea", "milk"]).toContain((JSON.parse(text) as { item: string }).item);
      }
    },
  );

  it("logit_bias decides, and penalties are captured", async () => {
    const { client, traces } = await clientOf(gateway);
    const { choices } = await client.chat.completions.create({
      ...{ model: "tiny", messages, max_tokens: 4, logprobs: true, presence_penalty: 1 },
      logit_bias: { 65: 100 },
    });
    expect(choices[0]!.logprobs!.content![0]!.logprob).toBeGreaterThan(-1e-3);
    expect((await traces())[0]!.sampling.rules).toEqual({ bias: [[65, 100]], presencePenalty: 1 });
  });
});

describe("with a sampler that enforces nothing", () => {
  it("forms are checked, and calls that lack them are marked", async () => {
    const replies = ['{"count": 3, "city": "Rome"}', "Rome, 3", "no call"];
    await using gateway = createGateway({
      target: createScriptedTarget(() => replies.shift()!),
      model: "m",
    });
    await gateway.listen();
    const { client, traces } = await clientOf(gateway);
    const response_format = zodResponseFormat(answer, "answer");
    for (let i = 0; i < 2; i++)
      await client.chat.completions.create({ model: "m", messages, response_format });
    await client.chat.completions.create({ model: "m", messages, tools, tool_choice: "required" });
    expect((await traces()).map(({ unmet }) => unmet)).toEqual([
      undefined,
      expect.stringContaining("response_format"),
      expect.stringContaining("tool_choice"),
    ]);
    expect((await traces()).map(({ unenforced }) => unenforced)).toEqual([
      ["response_format: responses are sampled freely"],
      ["response_format: responses are sampled freely"],
      ["tool_choice: responses are sampled freely", "strict tools: responses are sampled freely"],
    ]);
  });
});

describe("the Responses API", () => {
  it("continues a conversation that was opened here", async () => {
    const prompts: string[] = [];
    const target = createScriptedTarget(({ text }) => {
      prompts.push(text.match(/before|one|reply 1|two/g)!.join("|"));
      return `reply ${prompts.length}`;
    });
    await using gateway = createGateway({ target, model: "m" });
    await gateway.listen();
    const { client } = await clientOf(gateway);
    const { id } = await client.conversations.create({
      items: [{ role: "user", content: "before" }],
    });
    const first = await client.responses.create({ model: "m", input: "one", conversation: id });
    await client.responses.create({ model: "m", input: "two", conversation: { id } });
    expect(first.conversation).toEqual({ id });
    expect(prompts).toEqual(["before|one", "before|one|reply 1|two"]);
    await expect(
      client.responses.create({ model: "m", input: "x", conversation: "conv_unknown" }),
    ).rejects.toMatchObject({ status: 404 });
  });

  it("says what to set where a client wants a WebSocket", async () => {
    await using gateway = createGateway({ target: createScriptedTarget(() => "ok"), model: "m" });
    await gateway.listen();
    const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
    const url = `${session.baseUrl.replace("http", "ws")}/responses`;
    const request = new Request(url.replace("ws", "http"), {
      headers: { upgrade: "websocket", authorization: `Bearer ${session.apiKey}` },
    });
    const response = await gateway.fetch(request);
    expect(response.status).toBe(426);
    expect(await response.text()).toContain("setOpenAIResponsesTransport");
  });
});
