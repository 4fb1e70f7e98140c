/** Calls to a server of Anthropic's API: what it is sent, and what becomes of its responses. */
import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { openWorld, type HttpWorld } from "../http-world.ts";
import { serveAnthropic, type AnthropicServer } from "./anthropic-server.ts";

const said = (text: string): { content: object[] } => ({ content: [{ type: "text", text }] });

const worldOf = ({ url }: AnthropicServer): Promise<HttpWorld> =>
  openWorld({
    workers: [{ url: `${url}/v1`, kind: "anthropic", apiKey: "sk-ant-scripted", id: "claude" }],
  });

const tools = ["price", "stock"].map((name) => ({
  type: "function",
  function: { name, description: `The ${name}.`, parameters: { type: "object", properties: {} } },
}));

interface ChatResponse {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly {
        id: string;
        function: { name: string; arguments: string };
      }[];
    };
    readonly finish_reason: string;
  }[];
  readonly usage: object;
}

it("carries a conversation with several tool results, in the API's words", async () => {
  await using server = await serveAnthropic((_body, call) =>
    call === 0
      ? {
          content: [
            { type: "text", text: "Let me look." },
            { type: "tool_use", id: "toolu_1", name: "price", input: { item: "tea" } },
            { type: "tool_use", id: "toolu_2", name: "stock", input: {} },
          ],
          stop_reason: "tool_use",
          usage: { input_tokens: 7, cache_read_input_tokens: 100, output_tokens: 30 },
        }
      : said("3 euros, 5 left."),
  );
  await using world = await worldOf(server);
  const messages: object[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "How much is tea?" },
  ];
  const first = await world.post({ messages, tools, temperature: 0.5, max_tokens: 64 });
  const { choices, usage } = (await first.json()) as ChatResponse;
  const [choice] = choices;
  expect(choice?.finish_reason).toBe("tool_calls");
  expect(choice?.message.content).toBe("Let me look.");
  expect(choice?.message.tool_calls?.map(({ id, function: called }) => [id, called])).toEqual([
    ["toolu_1", { name: "price", arguments: '{"item":"tea"}' }],
    ["toolu_2", { name: "stock", arguments: "{}" }],
  ]);
  // Cached tokens are part of the prompt, as OpenAI counts.
  expect(usage).toMatchObject({ prompt_tokens: 107, completion_tokens: 30 });

  messages.push(
    choice?.message as object,
    { role: "tool", tool_call_id: "toolu_1", content: "3" },
    { role: "tool", tool_call_id: "toolu_2", content: "" },
    { role: "user", content: "And is there enough?" },
  );
  const second = await world.post({ messages, tools, stop: ["END"], tool_choice: "required" });
  expect(((await second.json()) as ChatResponse).choices[0]).toMatchObject({
    message: { content: "3 euros, 5 left." },
    finish_reason: "stop",
  });
  expect(server.refusals).toEqual([]);
  expect(server.calls[0]?.body).toEqual({
    model: "claude-scripted",
    max_tokens: 64,
    temperature: 0.5,
    system: [{ type: "text", text: "Be brief." }],
    messages: [{ role: "user", content: [{ type: "text", text: "How much is tea?" }] }],
    tools: ["price", "stock"].map((name) => ({
      name,
      description: `The ${name}.`,
      input_schema: { type: "object", properties: {} },
    })),
  });
  const { body } = server.calls[1] as AnthropicServer["calls"][number];
  expect(body).toMatchObject({ stop_sequences: ["END"], tool_choice: { type: "any" } });
  expect(body.messages.slice(1)).toEqual([
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "toolu_1", name: "price", input: { item: "tea" } },
        { type: "tool_use", id: "toolu_2", name: "stock", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "3" }] },
        { type: "tool_result", tool_use_id: "toolu_2" },
        { type: "text", text: "And is there enough?" },
      ],
    },
  ]);
  const traces = await world.session.traces();
  expect(traces.map(({ untrainable }) => untrainable)).toEqual([
    "the server returned no token ids of its answer",
    "tool_choice forced the answer, so its log-probabilities are not the policy's",
  ]);
});

it("lets an agent that no longer offers tools go on after calls", async () => {
  await using server = await serveAnthropic(() => said("done"));
  await using world = await worldOf(server);
  const call = { id: "c", type: "function", function: { name: "price", arguments: "not JSON" } };
  const messages = [
    { role: "user", content: "q" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: "an error" },
  ];
  expect((await world.post({ messages, tools, tool_choice: "none" })).status).toBe(200);
  expect(server.calls[0]?.body).toMatchObject({
    tools: [{ name: "price" }],
    tool_choice: { type: "none" },
    max_tokens: 4096,
  });
});

it("works for the official client of the API, with a stream, images and a count", async () => {
  await using server = await serveAnthropic(() => ({
    ...said("a cat, ENOUGH"),
    stop_reason: "stop_sequence",
    stop_sequence: "ENOUGH",
  }));
  await using world = await worldOf(server);
  const { baseUrl, apiKey } = world.session;
  const client = new Anthropic({ baseURL: baseUrl.replace(/\/v1$/u, ""), apiKey, maxRetries: 0 });
  const image = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } as const;
  const messages: Anthropic.MessageParam[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "What?" },
        { type: "image", source: image },
      ],
    },
  ];
  const stream = client.messages.stream({
    ...{ model: "any", max_tokens: 50, messages, stop_sequences: ["ENOUGH"] },
    system: "Look.",
  });
  const response = await stream.finalMessage();
  expect(response).toMatchObject({
    content: [{ type: "text", text: "a cat, ENOUGH" }],
    stop_reason: "stop_sequence",
    stop_sequence: "ENOUGH",
    usage: { input_tokens: 10, output_tokens: 5 },
  });
  expect(server.calls[0]?.body.messages[0]?.content[1]).toEqual({ type: "image", source: image });
  expect(await client.messages.countTokens({ model: "any", messages })).toMatchObject({
    input_tokens: 42,
  });
  expect(server.refusals).toEqual([]);
});

it("says length where the limit was met, and passes schemas and parallel calls on", async () => {
  await using server = await serveAnthropic(() => ({ ...said("cut"), stop_reason: "max_tokens" }));
  await using world = await worldOf(server);
  const messages = [{ role: "user", content: "q" }];
  const schema = { type: "object", properties: {}, additionalProperties: false };
  const format = { type: "json_schema", json_schema: { name: "s", schema } };
  const response = await world.post({
    ...{ messages, tools, parallel_tool_calls: false, response_format: format },
  });
  expect(((await response.json()) as ChatResponse).choices[0]?.finish_reason).toBe("length");
  expect(server.calls[0]?.body).toMatchObject({
    output_config: { format: { type: "json_schema", schema } },
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
  });
});

it("tries again while the server is overloaded, and not what it refuses", async () => {
  const overloaded = { status: 529, type: "overloaded_error", message: "Overloaded" };
  await using server = await serveAnthropic(({ max_tokens: limit }, call) =>
    limit === 1 || call < 2 ? overloaded : said("ok"),
  );
  await using world = await worldOf(server);
  const messages = [{ role: "user", content: "q" }];
  const response = await world.post({ messages });
  expect(((await response.json()) as ChatResponse).choices[0]?.message.content).toBe("ok");

  const down = await world.post({ messages, max_tokens: 1 });
  expect(down.status).toBe(529);
  expect(await down.json()).toMatchObject({
    error: { message: 'The worker "claude" responded with 529: Overloaded' },
  });
  expect(server.calls).toHaveLength(1);

  const hot = await world.post({ messages, temperature: 1.5 });
  expect([hot.status, await hot.text()]).toEqual([400, expect.stringContaining("temperature")]);
  for (const [field, value] of Object.entries({
    n: 2,
    logprobs: true,
    min_p: 0.1,
    response_format: { type: "json_object" },
    chat_template_kwargs: { a: 1 },
  })) {
    const refused = await world.post({ messages, [field]: value });
    expect([field, refused.status]).toEqual([field, 400]);
    expect(await refused.text()).toContain("is not supported by a server of Anthropic's API");
  }
});

it("blames its own key for a 401, and shows it to nobody", async () => {
  await using server = await serveAnthropic(() => said("ok"), "another-key");
  await using world = await worldOf(server);
  const response = await world.post({ messages: [{ role: "user", content: "q" }] });
  expect([response.status, await response.text()]).toEqual([
    502,
    expect.stringContaining("invalid x-api-key: [redacted]"),
  ]);
});
