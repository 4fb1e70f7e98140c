/** One session, several protocols: a conversation that one began, another can go on with. */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { Protocol } from "../../../src/core/trace.ts";
import { at, withWorld, type ConformanceCase, type World } from "../case.ts";
import { assertCaptured } from "../captured.ts";

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

interface Speaker {
  readonly protocol: Protocol;
  say(world: World, turns: readonly Turn[]): Promise<string>;
}

const openAi = ({ baseUrl, apiKey }: World): OpenAI =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

const speakers: readonly Speaker[] = [
  {
    protocol: "openai-chat",
    async say(world, turns) {
      const messages = [{ role: "system" as const, content: "Be brief." }, ...turns];
      const body = { model: "scripted", messages };
      return (await openAi(world).chat.completions.create(body)).choices[0]?.message.content ?? "";
    },
  },
  {
    protocol: "openai-responses",
    async say(world, turns) {
      const body = { model: "scripted", instructions: "Be brief.", input: [...turns] };
      return (await openAi(world).responses.create(body)).output_text;
    },
  },
  {
    protocol: "anthropic-messages",
    async say({ baseUrl, apiKey }, turns) {
      // As other gateways want it, without "/v1" at the end, and with a bearer token.
      const client = new Anthropic({
        baseURL: baseUrl.replace(/\/v1$/, ""),
        authToken: apiKey,
        apiKey: null,
        maxRetries: 0,
      });
      const body = { model: "scripted", max_tokens: 99, system: "Be brief." };
      const message = await client.messages.create({ ...body, messages: [...turns] });
      const block = at(message.content, 0);
      return block.type === "text" ? block.text : "";
    },
  },
];

export const mixedCases: readonly ConformanceCase[] = speakers.flatMap((first) =>
  speakers
    .filter((second) => second !== first)
    .map((second): ConformanceCase => ({
      name: `${first.protocol}, then ${second.protocol}, then ${first.protocol}`,
      client: "several",
      run: (target) =>
        withWorld(target, { responses: ["1", "2", "3"] }, async (world) => {
          const turns: Turn[] = [];
          for (const speaker of [first, second, first]) {
            turns.push({ role: "user", content: `question ${turns.length}` });
            turns.push({ role: "assistant", content: await speaker.say(world, turns) });
          }
          assert.deepEqual(
            turns.filter(({ role }) => role === "assistant").map(({ content }) => content),
            ["1", "2", "3"],
          );
          assertCaptured(await world.traces(), [
            { protocol: first.protocol, response: "1" },
            { protocol: second.protocol, response: "2", parent: 0 },
            { protocol: first.protocol, response: "3", parent: 1 },
          ]);
        }),
    })),
);
