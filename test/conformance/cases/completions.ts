/** `openai` and its text completions: prompts as they stand, text or ids. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { at, withWorld, type ConformanceCase, type World, type WorldOptions } from "../case.ts";
import { assertCaptured } from "../captured.ts";
import { sampledIds, sampledLogprobs } from "../targets.ts";

type Body = Omit<OpenAI.CompletionCreateParamsNonStreaming, "model" | "stream">;

interface Seen {
  readonly texts: readonly string[];
  readonly finishes: readonly string[];
  readonly logprobs: readonly (readonly number[] | null)[];
  readonly usage: OpenAI.CompletionUsage | undefined;
}

type WorkerRequest = (body: Body) => Promise<Seen>;

interface CompletionsScenario extends Pick<ConformanceCase, "renders"> {
  readonly name: string;
  readonly world: WorldOptions;
  run(request: WorkerRequest, world: World): Promise<void>;
}

const protocol = "openai-completions";
const ids = (text: string): number[] => Array.from(new TextEncoder().encode(text));

function asker({ baseUrl, apiKey }: World, stream: boolean): WorkerRequest {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  return async (body) => {
    const chunks: OpenAI.Completion[] = [];
    if (stream) {
      const options = { stream: true as const, stream_options: { include_usage: true } };
      const events = await client.completions.create({ ...body, model: "scripted", ...options });
      for await (const chunk of events) chunks.push(chunk);
    } else chunks.push(await client.completions.create({ ...body, model: "scripted" }));
    const n = body.n ?? 1;
    const choices = chunks.flatMap((chunk) => chunk.choices);
    const own = Array.from({ length: n }, (_, i) => choices.filter(({ index }) => index === i));
    return {
      texts: own.map((parts) => parts.map(({ text }) => text).join("")),
      finishes: own.map((parts) => String(parts.at(-1)?.finish_reason)),
      logprobs: own.map((parts) => parts.at(-1)?.logprobs?.token_logprobs ?? null),
      usage: chunks.at(-1)?.usage,
    };
  };
}

function refusing(
  name: string,
  body: Body,
  words: RegExp,
  world: Partial<WorldOptions> = {},
): CompletionsScenario {
  return {
    name,
    world: { responses: ["x"], ...world },
    async run(request, own) {
      await assert.rejects(request(body), (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError);
        assert.match(error.message, words);
        return true;
      });
      assert.deepEqual(await own.traces(), []);
    },
  };
}

const scenarios: readonly CompletionsScenario[] = [
  {
    name: "a text prompt",
    world: { responses: [" world 🙂"] },
    async run(request, world) {
      const seen = await request({ prompt: "héllo", max_tokens: 50 });
      assert.deepEqual([seen.texts, seen.finishes], [[" world 🙂"], ["stop"]]);
      const traces = await world.traces();
      assertCaptured(traces, [{ protocol, response: " world 🙂", text: " world 🙂" }]);
      assert.deepEqual(Array.from(at(traces, 0).promptIds), ids("héllo"));
      assert.deepEqual(at(traces, 0).messages, [{ role: "user", content: "héllo" }]);
    },
  },
  {
    name: "a prompt of ids",
    world: { responses: ["b"] },
    async run(request, world) {
      assert.deepEqual((await request({ prompt: [256, 97] })).texts, ["b"]);
      const traces = await world.traces();
      assertCaptured(traces, [{ protocol, response: "b" }]);
      assert.deepEqual(Array.from(at(traces, 0).promptIds), [256, 97]);
    },
  },
  {
    name: "a list of one prompt",
    world: { responses: ["b"] },
    async run(request, world) {
      await request({ prompt: ["one"] });
      await request({ prompt: [[97, 98]] });
      const traces = await world.traces();
      assert.deepEqual(
        traces.map((trace) => Array.from(trace.promptIds)),
        [ids("one"), [97, 98]],
      );
    },
  },
  {
    name: "text that looks like thinking and calls",
    world: { responses: ["<think>a</think> <tool_call>{}</tool_call> \n"] },
    async run(request, world) {
      const response = "<think>a</think> <tool_call>{}</tool_call> \n";
      assert.deepEqual((await request({ prompt: "q", max_tokens: 90 })).texts, [response]);
      assertCaptured(await world.traces(), [{ protocol, response, text: response }]);
    },
  },
  {
    name: "several choices",
    world: { responses: ["abc"] },
    async run(request, world) {
      const seen = await request({ prompt: "q", n: 3 });
      assert.deepEqual(seen.texts, ["abc", "abc", "abc"]);
      const traces = await world.traces();
      assert.deepEqual(
        traces.map(({ choice }) => choice),
        [0, 1, 2],
      );
    },
  },
  {
    name: "the protocol's own token limit",
    world: { responses: ["a".repeat(40)] },
    async run(request, world) {
      const seen = await request({ prompt: "q" });
      assert.deepEqual([seen.texts, seen.finishes], [["a".repeat(16)], ["length"]]);
      assertCaptured(await world.traces(), [
        { protocol, response: "a".repeat(40), sampled: 16, stopReason: "length" },
      ]);
    },
  },
  {
    name: "a stop string, and a text that goes on behind it",
    world: { responses: ["Think.\nObservation: x", "Done."] },
    async run(request, world) {
      const first = await request({ prompt: "Q", max_tokens: 99, stop: ["Observation:"] });
      assert.deepEqual([first.texts, first.finishes], [["Think.\n"], ["stop"]]);
      await request({ prompt: `Q${first.texts[0]}Observation: sun\n`, max_tokens: 99 });
      const response = "Think.\nObservation: x";
      assertCaptured(await world.traces(), [
        { protocol, response, sampled: "Think.\nObservation:".length, text: "Think.\n" },
        { protocol, response: "Done.", parent: 0 },
      ]);
    },
  },
  {
    name: "a text that goes on where the limit cut it",
    world: { responses: ["abcdef", "gh"] },
    async run(request, world) {
      const first = await request({ prompt: "Q", max_tokens: 3 });
      await request({ prompt: `Q${first.texts[0]}def`, max_tokens: 9 });
      assertCaptured(await world.traces(), [
        { protocol, response: "abcdef", sampled: 3, stopReason: "length" },
        { protocol, response: "gh", parent: 0 },
      ]);
    },
  },
  {
    name: "log-probabilities",
    world: { responses: ["ab"] },
    async run(request) {
      for (const logprobs of [1, 5])
        assert.deepEqual((await request({ prompt: "q", logprobs })).logprobs, [
          sampledLogprobs(sampledIds("ab")),
        ]);
      assert.deepEqual((await request({ prompt: "q" })).logprobs, [null]);
    },
  },
  {
    name: "usage",
    world: { responses: ["abc"] },
    async run(request) {
      const { usage } = await request({ prompt: "hello" });
      const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
      assert.deepEqual([input, output], [5, 4]);
    },
  },
  refusing("several prompts", { prompt: ["a", "b"] }, /several prompts/),
  refusing("echo", { prompt: "a", echo: true }, /echo=true/),
  refusing("suffix", { prompt: "a", suffix: "b" }, /suffix/),
  refusing("best_of", { prompt: "a", best_of: 2 }, /best_of=2/),
  refusing("context overflow", { prompt: "a".repeat(50) }, /context (window has|length is) 40/, {
    contextLength: 40,
  }),
];

export const completionsCases: readonly ConformanceCase[] = scenarios.flatMap((scenario) =>
  [false, true].map((stream): ConformanceCase => ({
    name: `openai completions, ${stream ? "streamed" : "whole"}: ${scenario.name}`,
    client: "openai completions",
    ...(scenario.renders === undefined ? {} : { renders: scenario.renders }),
    run: (target) =>
      withWorld(target, scenario.world, (world) => scenario.run(asker(world, stream), world)),
  })),
);
