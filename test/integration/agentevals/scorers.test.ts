/** The adapters of evaluators, against the packages themselves. */
import { expect, it } from "vitest";
import {
  fromMastra,
  fromOpenEvals,
  fromScorer,
  type ExternalScorer,
  type MastraScorer,
  type OpenEvaluator,
} from "../../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "../../evaluators/episode-of.ts";
import { callStep, wireTrajectory } from "../../evaluators/weather-episode.ts";
import { npmPackages } from "../npm-packages.ts";

const load = npmPackages("scorers", [
  "agentevals@0.0.7",
  "autoevals@0.0.132",
  "openevals@0.2.2",
  "@langchain/core@1",
  "@langchain/langgraph@1",
]);
// Its versions before 1.0 have other messages, and 1 asks for Node 22.
const loadMastra = npmPackages("mastra", ["@mastra/core@1.71.0", "@mastra/evals@1.10.2", "zod@4"]);
type Make<T> = (options?: object) => T;

it("autoevals: Levenshtein's similarity", async () => {
  const { Levenshtein } = (await load("autoevals")) as { Levenshtein: ExternalScorer };
  const score = await fromScorer(Levenshtein)(taskOf({ answer: "abd" }), episodeOf("abc"));
  expect(score.reward).toBeCloseTo(2 / 3, 12);
});

it("openevals: an exact match, and Levenshtein's similarity", async () => {
  const { exactMatch, levenshteinDistance } = (await load("openevals")) as Record<
    "exactMatch" | "levenshteinDistance",
    OpenEvaluator
  >;
  const task = taskOf({ answer: "abd" });
  expect(await fromOpenEvals(exactMatch)(task, episodeOf("abd"))).toMatchObject({
    reward: 1,
    isCorrect: true,
  });
  expect(await fromOpenEvals(exactMatch)(task, episodeOf("abc"))).toMatchObject({
    reward: 0,
    isCorrect: false,
  });
  const near = await fromOpenEvals(levenshteinDistance)(task, episodeOf("abc"));
  expect(near.reward).toBeCloseTo(2 / 3, 12);
});

it("agentevals: a trajectory with tool calls", async () => {
  const { createTrajectoryMatchEvaluator: make } = (await load("agentevals")) as {
    createTrajectoryMatchEvaluator: Make<OpenEvaluator>;
  };
  const evaluator = fromOpenEvals(make({ trajectoryMatchMode: "strict" }), { outputs: "messages" });
  const episode = episodeOf("Sunny.", [callStep("Rome")]);
  expect(await evaluator(taskOf({ reference: wireTrajectory("Rome") }), episode)).toMatchObject({
    reward: 1,
  });
  expect(await evaluator(taskOf({ reference: wireTrajectory("Oslo") }), episode)).toMatchObject({
    reward: 0,
  });
});

it("Mastra: scorers of text, of tool calls, and one's own", async () => {
  const prebuilt = (await loadMastra("@mastra/evals/scorers/prebuilt")) as Record<
    string,
    Make<MastraScorer>
  >;
  const { createScorer } = (await loadMastra("@mastra/core/evals")) as {
    createScorer: (options: object) => {
      generateScore(
        score: (of: { run: { output: string; groundTruth: string } }) => number,
      ): MastraScorer;
    };
  };
  const task = taskOf({ answer: "Sunny." }, "What is the weather in Rome?");
  const episode = episodeOf("Sunny.", [callStep("Rome")]);
  const scoreOf = async (scorer: MastraScorer): Promise<number> =>
    (await fromMastra(scorer)(task, episode)).reward;
  const called = prebuilt["createToolCallAccuracyScorerCode"]!;
  expect(await scoreOf(called({ expectedTool: "get_weather" }))).toBe(1);
  expect(await scoreOf(called({ expectedTool: "send_mail" }))).toBe(0);
  // The question as the response would have all of its words.
  const similar = await scoreOf(prebuilt["createContentSimilarityScorer"]!());
  expect(similar).toBeGreaterThanOrEqual(0);
  expect(similar).toBeLessThan(0.5);
  const same = createScorer({ id: "same", description: "The same text" }).generateScore(({ run }) =>
    Number(run.output === run.groundTruth),
  );
  expect(await fromMastra(same, { outputs: "text" })(task, episode)).toMatchObject({ reward: 1 });
});
