/** What only one client or protocol has. */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { at, withWorld, type ConformanceCase, type World, type WorldOptions } from "../case.ts";
import { sampledIds, sampledLogprobs } from "../targets.ts";

const model = "scripted";
const png = "data:image/png;base64,iVBORw0KGgo=";
const messages = [{ role: "user" as const, content: "q" }];

function native(
  client: string,
  name: string,
  world: WorldOptions,
  run: (world: World) => Promise<void>,
): ConformanceCase {
  return { name: `${client}: ${name}`, client, run: (target) => withWorld(target, world, run) };
}

const openAi = ({ baseUrl, apiKey }: World): OpenAI =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
const anthropic = ({ baseUrl, apiKey }: World): Anthropic =>
  new Anthropic({ baseURL: baseUrl, apiKey, authToken: null, maxRetries: 0 });

async function assertRefused(work: Promise<unknown>, words: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    const { status, message } = error as { status?: number; message: string };
    assert.equal(status, 400);
    assert.match(message, words);
    return true;
  });
}

const one = { responses: ["ab"] };

type ChatBody = Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>;
type ResponsesBody = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;
type MessagesBody = Partial<Anthropic.MessageCreateParamsNonStreaming>;

/** Name, body, what the refusal says; and whether a server that renders would have honoured it. */
type Refusal<Body> = readonly [string, Body, RegExp, "honoured"?];

const refusedChat: readonly Refusal<ChatBody>[] = [
  ["a penalty", { frequency_penalty: 0.5 }, /frequency_penalty/],
  ["a forced tool", { tool_choice: "required" }, /tool_choice/, "honoured"],
  [
    "an image",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: png } }] }] },
    /text only/,
    "honoured",
  ],
];
const refusedResponses: readonly Refusal<ResponsesBody>[] = [
  ["an unknown previous response", { previous_response_id: "resp_x" }, /resp_x/],
  ["background", { background: true }, /background/],
  ["hosted tools", { tools: [{ type: "web_search" }] }, /hosted tools/],
  ["a forced tool", { tool_choice: "required" }, /tool_choice/, "honoured"],
  ["included files", { include: ["file_search_call.results"] }, /include/],
  [
    "an image",
    {
      input: [{ role: "user", content: [{ type: "input_image", image_url: png, detail: "auto" }] }],
    },
    /text only/,
    "honoured",
  ],
];
const refusedMessages: readonly Refusal<MessagesBody>[] = [
  ["a forced tool", { tool_choice: { type: "any" } }, /tool_choice/, "honoured"],
  ["server tools", { tools: [{ type: "web_search_20250305", name: "web_search" }] }, /web_search/],
  [
    "a begun answer",
    { messages: [...messages, { role: "assistant", content: "I" }] },
    /messages\[1\]/,
  ],
  [
    "an image",
    {
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "url", url: "https://x/y.png" } }],
        },
      ],
    },
    /text only/,
    "honoured",
  ],
  [
    "a PDF",
    {
      messages: [
        {
          role: "user",
          content: [{ type: "document", source: { type: "url", url: "https://x/y.pdf" } }],
        },
      ],
    },
    /text only/,
  ],
];

function whereRefused(supported: "honoured" | undefined): Pick<ConformanceCase, "renders"> {
  return supported === undefined ? {} : { renders: "gateway" };
}

const refusals: readonly ConformanceCase[] = [
  ...refusedChat.map(([name, body, words, supported]) => ({
    ...native("openai chat", `refuses ${name}`, one, (world) =>
      assertRefused(openAi(world).chat.completions.create({ model, messages, ...body }), words),
    ),
    ...whereRefused(supported),
  })),
  ...refusedResponses.map(([name, body, words, supported]) => ({
    ...native("openai responses", `refuses ${name}`, one, (world) =>
      assertRefused(openAi(world).responses.create({ model, input: "q", ...body }), words),
    ),
    ...whereRefused(supported),
  })),
  ...refusedMessages.map(([name, body, words, supported]) => ({
    ...native("anthropic", `refuses ${name}`, one, (world) =>
      assertRefused(
        anthropic(world).messages.create({ model, max_tokens: 9, messages, ...body }),
        words,
      ),
    ),
    ...whereRefused(supported),
  })),
];

async function eventTypes(stream: AsyncIterable<{ type: string }>): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of stream) if (types.at(-1) !== type) types.push(type);
  return types;
}

export const nativeCases: readonly ConformanceCase[] = [
  ...refusals,
  native("openai chat", "several choices and log-probabilities", one, async (world) => {
    const body = { model, messages, n: 2, logprobs: true };
    const { choices } = await openAi(world).chat.completions.create(body);
    for (const choice of choices) {
      const sampled = choice.logprobs?.content?.map(({ logprob }) => logprob);
      assert.deepEqual(sampled, sampledLogprobs(sampledIds("ab")));
    }
    assert.deepEqual(
      (await world.traces()).map(({ choice }) => choice),
      [0, 1],
    );
  }),
  native("openai responses", "log-probabilities where they are included", one, async (world) => {
    const include = ["message.output_text.logprobs" as const];
    const { output } = await openAi(world).responses.create({ model, input: "q", include });
    const [item] = output;
    const part = item?.type === "message" ? item.content[0] : undefined;
    assert.ok(part?.type === "output_text");
    assert.deepEqual(
      part.logprobs?.map(({ logprob }) => logprob),
      sampledLogprobs(sampledIds("ab")),
    );
  }),
  native(
    "openai responses",
    "says why an answer is incomplete, and repeats metadata",
    one,
    async (world) => {
      const body = { model, input: "q", max_output_tokens: 1, metadata: { a: "b" } };
      const response = await openAi(world).responses.create(body);
      assert.deepEqual(response.incomplete_details, { reason: "max_output_tokens" });
      assert.deepEqual(response.metadata, { a: "b" });
    },
  ),
  native("openai responses", "does not continue what was not to be stored", one, async (world) => {
    const { id } = await openAi(world).responses.create({ model, input: "q", store: false });
    await assertRefused(
      openAi(world).responses.create({ model, input: "q", previous_response_id: id }),
      new RegExp(id),
    );
  }),
  native(
    "openai responses",
    "sends its events in order",
    { responses: ["<think>a</think>bc"] },
    async (world) => {
      const stream = await openAi(world).responses.create({ model, input: "q", stream: true });
      const item = (kind: string): string[] => [
        "response.output_item.added",
        "response.content_part.added",
        `response.${kind}.delta`,
        `response.${kind}.done`,
        "response.content_part.done",
        "response.output_item.done",
      ];
      assert.deepEqual(await eventTypes(stream), [
        "response.created",
        "response.in_progress",
        ...item("reasoning_text"),
        ...item("output_text"),
        "response.completed",
      ]);
    },
  ),
  native(
    "anthropic",
    "sends its events in order",
    { responses: ["<think>a</think>bc"] },
    async (world) => {
      const body = { model, messages, max_tokens: 99, stream: true as const };
      const block = ["content_block_start", "content_block_delta", "content_block_stop"];
      assert.deepEqual(await eventTypes(await anthropic(world).messages.create(body)), [
        "message_start",
        ...block,
        ...block,
        "message_delta",
        "message_stop",
      ]);
    },
  ),
  native("anthropic", "counts the tokens of a prompt", one, async (world) => {
    const counted = await anthropic(world).messages.countTokens({ model, messages, system: "s" });
    await anthropic(world).messages.create({ model, messages, system: "s", max_tokens: 9 });
    const traces = await world.traces();
    assert.equal(traces.length, 1);
    assert.equal(counted.input_tokens, at(traces, 0).promptIds.length);
  }),
  native(
    "anthropic",
    "has its own shape of errors",
    { ...one, contextLength: 20 },
    async (world) => {
      const work = anthropic(world).messages.create({
        model,
        messages: [{ role: "user", content: "x".repeat(50) }],
        max_tokens: 9,
      });
      await assert.rejects(work, (error) => {
        assert.ok(error instanceof Anthropic.BadRequestError);
        assert.equal(error.type, "invalid_request_error");
        assert.match(error.message, /prompt is too long/);
        return true;
      });
    },
  ),
  native("anthropic", "reads failed tools and blocks of text", one, async (world) => {
    await anthropic(world).messages.create({
      model,
      max_tokens: 9,
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "q" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "s" },
            { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "a",
              is_error: true,
              content: [{ type: "text", text: "no" }],
            },
            { type: "text", text: "and?" },
          ],
        },
      ],
    });
    assert.deepEqual(at(await world.traces(), 0).messages, [
      { role: "system", content: "s" },
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: "",
        reasoning: "t",
        toolCalls: [{ id: "a", name: "f", arguments: '{"x":1}' }],
      },
      { role: "tool", toolCallId: "a", content: "Error: no" },
      { role: "user", content: "and?" },
    ]);
  }),
  {
    name: "@mastra/core: all",
    client: "@mastra/core",
    skip: "@mastra/core needs Node 22",
    run: async () => undefined,
  },
];
