/** What only a server that renders messages can do, as each protocol asks for it. */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { at, withWorld, type ConformanceCase, type World } from "../case.ts";

const model = "scripted";
const png = "data:image/png;base64,iVBORw0KGgo=";
const messages = [{ role: "user" as const, content: "q" }];
const schema = {
  type: "object",
  properties: { a: { type: "integer" } },
  additionalProperties: false,
};
const parameters = { type: "object" as const, properties: {} };

const openAi = ({ baseUrl, apiKey }: World): OpenAI =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
const anthropic = ({ baseUrl, apiKey }: World): Anthropic =>
  new Anthropic({ baseURL: baseUrl, apiKey, authToken: null, maxRetries: 0 });

/** `ask` makes one call, of which the server must get `wanted`. */
function sending(
  client: string,
  name: string,
  request: (world: World) => Promise<unknown>,
  wanted: Readonly<Record<string, unknown>>,
  untrainable?: RegExp,
): ConformanceCase {
  return {
    name: `${client}: passes ${name} on`,
    client,
    renders: "server",
    run: (target) =>
      withWorld(target, { responses: ['{"a":1}'] }, async (world) => {
        await request(world);
        const sent = at(world.sent, 0).body;
        assert.deepEqual({ ...sent, ...wanted }, sent);
        const trace = at(await world.traces(), 0);
        if (untrainable) assert.match(trace.untrainable ?? "", untrainable);
        else assert.equal(trace.untrainable, undefined);
      }),
  };
}

const responseFormat = {
  type: "json_schema",
  json_schema: { name: "answer", schema, strict: true },
};
const tools = [{ type: "function" as const, function: { name: "f", parameters } }];
const named = { type: "function", function: { name: "f" } };
const withImage = {
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: png } }] }],
};

export const serverCases: readonly ConformanceCase[] = [
  sending(
    "openai chat",
    "a JSON schema",
    (world) =>
      openAi(world).chat.completions.create({
        ...{ model, messages },
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", schema, strict: true },
        },
      }),
    { response_format: responseFormat },
    /^response_format forced/,
  ),
  sending(
    "openai chat",
    "a forced tool",
    (world) =>
      openAi(world).chat.completions.create({
        ...{ model, messages, tools },
        tool_choice: { type: "function", function: { name: "f" } },
      }),
    { tool_choice: named },
    /^tool_choice forced/,
  ),
  sending(
    "openai chat",
    "an image",
    (world) =>
      openAi(world).chat.completions.create({
        model,
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: png } }] }],
      }),
    withImage,
  ),
  sending(
    "openai responses",
    "a JSON schema",
    (world) =>
      openAi(world).responses.create({
        ...{ model, input: "q" },
        text: { format: { type: "json_schema", name: "answer", schema, strict: true } },
      }),
    { response_format: responseFormat },
    /^response_format forced/,
  ),
  sending(
    "openai responses",
    "a forced tool",
    (world) =>
      openAi(world).responses.create({
        ...{ model, input: "q" },
        tools: [{ type: "function", name: "f", parameters, strict: false }],
        tool_choice: { type: "function", name: "f" },
      }),
    { tool_choice: named },
    /^tool_choice forced/,
  ),
  sending(
    "openai responses",
    "an image",
    (world) =>
      openAi(world).responses.create({
        model,
        input: [
          { role: "user", content: [{ type: "input_image", image_url: png, detail: "auto" }] },
        ],
      }),
    withImage,
  ),
  sending(
    "anthropic",
    "a JSON schema",
    (world) =>
      anthropic(world).messages.create({
        ...{ model, messages, max_tokens: 9 },
        output_config: { format: { type: "json_schema", schema } },
      }),
    { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } },
    /^response_format forced/,
  ),
  sending(
    "anthropic",
    "a forced tool",
    (world) =>
      anthropic(world).messages.create({
        ...{ model, messages, max_tokens: 9 },
        tools: [{ name: "f", input_schema: parameters }],
        tool_choice: { type: "any" },
      }),
    { tool_choice: "required" },
    /^tool_choice forced/,
  ),
  sending(
    "anthropic",
    "an image",
    (world) =>
      anthropic(world).messages.create({
        ...{ model, max_tokens: 9 },
        messages: [
          {
            role: "user",
            content: [
              {
                type: "image",
                source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
              },
            ],
          },
        ],
      }),
    withImage,
  ),
  {
    name: "openai chat: shows alternatives to tokens",
    client: "openai chat",
    renders: "server",
    run: (target) =>
      withWorld(target, { responses: ["ab"] }, async (world) => {
        const body = { model, messages, logprobs: true, top_logprobs: 2 };
        const { choices } = await openAi(world).chat.completions.create(body);
        const shown = at(choices, 0).logprobs?.content ?? [];
        assert.equal(at(world.sent, 0).body["top_logprobs"], 2);
        const mostLikely = shown.map(({ top_logprobs: tops }) => tops.map(({ token }) => token));
        assert.deepEqual(mostLikely, [
          ["other", "a"],
          ["other", "b"],
          ["other", ""],
        ]);
      }),
  },
];
