/** What the adapters of evaluation libraries pass on, and what they make of the result. */
import { expect, it } from "vitest";
import { fromMastra, fromOpenEvals } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";
import { callStep, wireTrajectory } from "./weather-episode.ts";

const task = taskOf({ answer: "Sunny.", reference: wireTrajectory("Oslo") }, "Weather?");
const episode = episodeOf("Sunny.", [callStep("Rome")]);

it("passes text or messages to an evaluator of openevals, and takes truth values", async () => {
  const seen: unknown[] = [];
  const evaluator = (args: object) => {
    seen.push(args);
    return { key: "same", score: true, comment: "as expected" };
  };
  expect(await fromOpenEvals(evaluator)(task, episode)).toEqual({
    reward: 1,
    isCorrect: true,
    metadata: { reason: "as expected" },
  });
  await fromOpenEvals(evaluator, { outputs: "messages" })(task, episode);
  await fromOpenEvals(evaluator)(taskOf({}, "Weather?"), episode);
  expect(seen).toEqual([
    { inputs: "Weather?", outputs: "Sunny.", referenceOutputs: "Sunny." },
    {
      inputs: "Weather?",
      outputs: wireTrajectory("Rome"),
      referenceOutputs: wireTrajectory("Oslo"),
    },
    { inputs: "Weather?", outputs: "Sunny." },
  ]);
});

it("refuses several scores, and none", async () => {
  for (const bad of [[{ key: "a", score: 1 }], { key: "a", score: null }, undefined]) {
    const evaluator = fromOpenEvals(() => bad);
    await expect(evaluator(task, episode)).rejects.toThrow(/no finite score/u);
  }
});

it("gives a scorer of Mastra the messages as its agents store them", async () => {
  const seen: unknown[] = [];
  const scorer = {
    run: async (run: unknown) => {
      seen.push(run);
      return { score: 0.75, reason: "three of four" };
    },
  };
  expect(await fromMastra(scorer, { passScore: 0.7 })(task, episode)).toEqual({
    reward: 0.75,
    isCorrect: true,
    metadata: { reason: "three of four" },
  });
  const invocation = {
    toolCallId: "call_1",
    toolName: "get_weather",
    args: { city: "Rome" },
    state: "result",
    result: "sunny",
  };
  expect(seen).toMatchObject([
    {
      input: {
        inputMessages: [{ role: "user", content: { content: "What is the weather in Rome?" } }],
        systemMessages: [{ role: "system", content: "You are a weather service." }],
      },
      output: [
        { role: "assistant", content: { format: 2, toolInvocations: [invocation] } },
        { role: "assistant", content: { parts: [{ type: "text", text: "Sunny." }] } },
      ],
      groundTruth: "Sunny.",
    },
  ]);
  await fromMastra(scorer, { outputs: "text" })(taskOf({}, "Weather?"), episode);
  expect(seen[1]).toEqual({ input: "Weather?", output: "Sunny." });
});
