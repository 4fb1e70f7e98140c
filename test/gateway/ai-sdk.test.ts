/** The AI SDK as `openai(model)` gives it: Responses with `store`, and `item_reference` for what was said before. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool, ToolLoopAgent, type ModelMessage } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import type { RolloutSession } from "../../src/core/session.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";

const call = '<tool_call>\n{"name": "weather", "arguments": {"city":  "Oslo"}}\n</tool_call>';
const tools = {
  weather: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `Sun in ${city}.`,
  }),
};
const system = "You tell the weather.";
const stopWhen = stepCountIs(4);

type Model = ReturnType<ReturnType<typeof createOpenAI>>;
interface Said {
  readonly text: string;
  readonly messages: readonly ModelMessage[];
}

/** One turn of the user, with all calls that the SDK makes for it. */
const ways: Readonly<Record<string, (model: Model, messages: ModelMessage[]) => Promise<Said>>> = {
  generateText: async (model, messages) => {
    const options = { model, messages, tools, system, stopWhen, maxRetries: 0 };
    const { text, response } = await generateText(options);
    return { text, messages: response.messages };
  },
  streamText: async (model, messages) => {
    const options = { model, messages, tools, system, stopWhen, maxRetries: 0 };
    const result = streamText(options);
    return { text: await result.text, messages: (await result.response).messages };
  },
  "ToolLoopAgent.generate": async (model, messages) => {
    const agent = new ToolLoopAgent({ model, tools, instructions: system, stopWhen });
    const { text, response } = await agent.generate({ messages });
    return { text, messages: response.messages };
  },
  "ToolLoopAgent.stream": async (model, messages) => {
    const agent = new ToolLoopAgent({ model, tools, instructions: system, stopWhen });
    const result = await agent.stream({ messages });
    return { text: await result.text, messages: (await result.response).messages };
  },
};

/** Bodies as they are sent, to show that references are among them. */
function modelOf({ baseUrl: baseURL, apiKey }: RolloutSession, sent: string[]): Model {
  const spy: typeof fetch = (input, init) => {
    sent.push(init?.body as string);
    return fetch(input, init);
  };
  return createOpenAI({ baseURL, apiKey, fetch: spy })("scripted");
}

it.each(Object.keys(ways))(
  "%s: text with a tool call, and a second question, are one row",
  async (name) => {
    const responses = [
      `<think>Hm.</think>Let me see.\n${call}`,
      "Sunny.",
      call,
      "<think>Well.</think>Still sunny.",
    ];
    await using gateway = createGateway({
      target: createScriptedTarget(responses),
      model: "scripted",
    });
    await gateway.listen();
    const session = await gateway.sessions.open({ uid: name, seed: 1, sampling: {} });
    const sent: string[] = [];
    const model = modelOf(session, sent);
    const messages: ModelMessage[] = [];
    const texts: string[] = [];
    for (const question of ["And the weather?", "And now?"]) {
      messages.push({ role: "user", content: question });
      const said = await ways[name]!(model, messages);
      texts.push(said.text);
      messages.push(...said.messages);
    }
    expect(texts).toEqual(["Sunny.", "Still sunny."]);
    expect(sent.filter((body) => body.includes('"item_reference"'))).toHaveLength(3);
    const traces = await session.traces();
    expect(traces).toHaveLength(sent.length);
    expect(traces).toHaveLength(4);
    for (const [i, trace] of traces.entries()) {
      const before = traces[i - 1];
      expect(trace.parentId).toBe(before?.id ?? null);
      if (!before) continue;
      const prefix = [...before.promptIds, ...before.responseIds];
      expect(Array.from(trace.promptIds.subarray(0, prefix.length))).toEqual(prefix);
    }
    expect(session.failedCalls?.()).toEqual([]);
  },
);
