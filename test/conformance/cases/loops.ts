/** Frameworks that run their own loop: they call the tools themselves until the model is done. */
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, run, tool as agentTool } from "@openai/agents";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { at, withWorld, type ConformanceCase, type World } from "../case.ts";
import { assertCaptured } from "../captured.ts";
import type { Protocol } from "../../../src/core/trace.ts";
import { createAgentsModel } from "../clients/agents.ts";
import { callText, weather } from "./scenarios.ts";

/** Runs to the end and gives the last text. `look` is the tool. */
type Loop = (world: World, stream: boolean, look: (city: string) => string) => Promise<string>;

const parameters = { ...weather.parameters, properties: { ...weather.parameters.properties } };
const { description } = weather;

const aiLoop: Loop = async ({ baseUrl, apiKey }, stream, look) => {
  const provider = createOpenAICompatible({ name: "gateway", baseURL: baseUrl, apiKey });
  const options = {
    model: provider("scripted"),
    prompt: "q",
    maxRetries: 0,
    stopWhen: stepCountIs(5),
    tools: {
      weather: tool({
        description,
        inputSchema: jsonSchema<{ city: string }>(parameters),
        execute: ({ city }) => look(city),
      }),
    },
  };
  return stream
    ? streamText({ ...options, onError: () => undefined }).text
    : (await generateText(options)).text;
};

const agentsLoop =
  (protocol: Protocol): Loop =>
  async (world, stream, look) => {
    const agent = new Agent({
      name: "agent",
      instructions: "Be brief.",
      model: createAgentsModel(protocol, world),
      tools: [
        agentTool({
          name: weather.name,
          description,
          parameters,
          strict: true,
          execute: (input) => look((input as { city: string }).city),
        }),
      ],
    });
    if (!stream) return String((await run(agent, "q")).finalOutput);
    const running = await run(agent, "q", { stream: true });
    await running.completed;
    return String(running.finalOutput);
  };

const loops: readonly (readonly [string, Protocol, Loop])[] = [
  ["ai", "openai-chat", aiLoop],
  ["openai agents chat", "openai-chat", agentsLoop("openai-chat")],
  ["openai agents responses", "openai-responses", agentsLoop("openai-responses")],
];

export const loopCases: readonly ConformanceCase[] = loops.flatMap(([client, protocol, loop]) =>
  [false, true].map((stream): ConformanceCase => ({
    name: `${client}, ${stream ? "streamed" : "whole"}: runs its loop of tools`,
    client,
    run: (target) => {
      const first = `${callText("Oslo")}\n${callText("Rome")}`;
      const responses = [first, callText("Lima"), "All done."];
      return withWorld(target, { responses }, async (world) => {
        const requested: string[] = [];
        const look = (city: string): string => `${city}: sun ${requested.push(city)}`;
        assert.equal(await loop(world, stream, look), "All done.");
        assert.deepEqual(requested, ["Oslo", "Rome", "Lima"]);
        const traces = await world.traces();
        assertCaptured(traces, [
          { protocol, response: first },
          { protocol, response: callText("Lima"), parent: 0 },
          { protocol, response: "All done.", parent: 1 },
        ]);
        assert.equal(at(traces, 2).messages.at(-1)?.content, "Lima: sun 3");
      });
    },
  })),
);
