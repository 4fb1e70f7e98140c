import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import { withTrajectory } from "../../src/rollouts/attempt/trajectory-scope.ts";
import { request, questions, runThroughGateway } from "./gateway-run.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks one question, with a real client that was given `config.fetch`. */
type Client = (config: AgentConfig) => (question: string) => Promise<unknown>;

const clients: Readonly<Record<string, Client>> = {
  fetch: (config) => (question) => request(config, question, config.fetch),
  openai: (config) => {
    const { baseUrl: baseURL, apiKey, model, fetch } = config;
    const client = new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0 });
    return (content) =>
      client.chat.completions.create({ model, messages: [{ role: "user", content }] });
  },
  "openai, streaming": (config) => {
    const { baseUrl: baseURL, apiKey, model, fetch } = config;
    const client = new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0 });
    return async (content) => {
      const messages = [{ role: "user", content }] as const;
      const stream = await client.chat.completions.create({
        ...{ model, messages: [...messages], stream: true as const },
      });
      for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
    };
  },
  anthropic: (config) => {
    const { baseUrl, apiKey, model, fetch } = config;
    const baseURL = baseUrl.replace(/\/v1$/u, "");
    const client = new Anthropic({ baseURL, apiKey, fetch, authToken: null, maxRetries: 0 });
    return (content) =>
      client.messages.create({ model, max_tokens: 9, messages: [{ role: "user", content }] });
  },
  "ai sdk": (config) => {
    const { baseUrl: baseURL, apiKey, fetch } = config;
    const provider = createOpenAICompatible({ name: "trainer", baseURL, apiKey, fetch });
    return (prompt) => generateText({ model: provider(config.model), prompt, maxRetries: 0 });
  },
  "ai sdk, streaming": (config) => {
    const { baseUrl: baseURL, apiKey, fetch } = config;
    const provider = createOpenAICompatible({ name: "trainer", baseURL, apiKey, fetch });
    return async (prompt) =>
      await streamText({ model: provider(config.model), prompt, maxRetries: 0 }).text;
  },
  langchain: (config) => {
    const { baseUrl: baseURL, apiKey, model, fetch } = config;
    const client = new ChatOpenAI({
      ...{ model, apiKey, maxRetries: 0, configuration: { baseURL, fetch } },
    });
    return (question) => client.invoke(question);
  },
};

describe("withTrajectory", () => {
  it.each(Object.entries(clients))(
    "W33: tells hundreds of interleaved calls of %s apart",
    { timeout: 60_000 },
    async (_, makeClient) => {
      const roles = Array.from({ length: 10 }, (__, i) => `role-${i}`);
      const perRole = 12;
      let index = 0;
      const { episode } = await runThroughGateway({
        // Answers come in an order that has nothing to do with that of the questions.
        script: async () => {
          await wait((index++ * 7919) % 13);
          return "ok";
        },
        limits: { timeoutMs: 50_000 },
        flow: async (_task, config) => {
          const call = makeClient(config);
          await Promise.all(
            roles.map((role) =>
              withTrajectory(role, async () => {
                await Promise.all(
                  Array.from({ length: perRole }, async (__, n) => {
                    await wait((n * 31) % 7);
                    await call(`${role} asks ${n}`);
                  }),
                );
              }),
            ),
          );
          await call("nobody asks");
        },
      });
      expect(episode.error).toBeUndefined();
      const requested = questions(episode);
      expect(requested["agent"]).toEqual(["nobody asks"]);
      for (const role of roles) {
        const expected = Array.from({ length: perRole }, (__, n) => `${role} asks ${n}`);
        expect(requested[role]?.toSorted()).toEqual(expected.toSorted());
      }
    },
  );

  it("keeps two rollouts apart, and counts the innermost name", async () => {
    const { episodes } = await runThroughGateway({
      tasks: ["a", "b", "c"],
      flow: async (task, config) => {
        await withTrajectory("outer", async () => {
          await request(config, `${task.id} outer`, config.fetch);
          await withTrajectory("inner", () => request(config, `${task.id} inner`, config.fetch));
          await request(config, `${task.id} outer again`, config.fetch);
        });
      },
    });
    for (const episode of episodes) {
      const { id } = episode.task;
      expect(questions(episode)).toEqual({
        outer: [`${id} outer`, `${id} outer again`],
        inner: [`${id} inner`],
      });
    }
  });

  it("takes URL and Request, lets explicit endpoints win, and leaves other addresses alone", async () => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        const judge = config.trajectory("judge");
        const others: string[] = [];
        await withTrajectory("solver", async () => {
          await request(config, "as a request", (input, init) =>
            config.fetch(new Request(input, init)),
          );
          await request(config, "as a URL", (input, init) =>
            config.fetch(new URL(input instanceof Request ? input.url : input), init),
          );
          await request(judge, "to the judge", config.fetch);
          const { origin } = new URL(config.baseUrl);
          others.push(await (await config.fetch(`${origin}/health`)).text());
        });
        return others;
      },
    });
    expect(episode.error).toBeUndefined();
    expect(questions(episode)).toEqual({
      solver: ["as a request", "as a URL"],
      judge: ["to the judge"],
    });
    expect(JSON.stringify(episode.output)).toContain("ok");
  });

  it("is refused where no client was given config.fetch, since it would do nothing", async () => {
    const { episode } = await runThroughGateway({
      flow: (_task, config) => withTrajectory("solver", () => request(config, "q")),
    });
    expect(episode.terminationReason).toBe("error");
    expect(episode.error?.message).toContain('withTrajectory("solver", ...) was used, but no call');
    expect(episode.error?.hint).toContain("fetch: config.fetch");
  });

  it("only runs its function outside of a rollout", async () => {
    expect(await withTrajectory("x", async () => "same code in production")).toBe(
      "same code in production",
    );
  });
});
