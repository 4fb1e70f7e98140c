/** Rewards that a judge gives to the rollouts of a task together: training without labels. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GroupEvaluator } from "../../src/core/agent.ts";
import { AgentTrainerError } from "../../src/core/errors.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { relativeJudge } from "../../src/evaluators/index.ts";
import { serveHttp, type TestServer } from "../gateway/http-world.ts";
import { coinBackend } from "./coin-backend.ts";
import { coinAgent, coinTasks, coinTrainer, newFolder, readLines } from "./coin-run.ts";

const unscored = { evaluator: undefined } as const;

/** A judge that prefers "yes"; or responds with this text. */
async function serveJudge(says?: string): Promise<TestServer> {
  return serveHttp((request, response) => {
    let body = "";
    request.on("data", (data: Buffer) => (body += data.toString()));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const texts = [...messages[1]!.content.matchAll(/name="attempt \d+">\n([^]*?)\n<\/data/gu)];
      const scores = Object.fromEntries(
        texts.map(([, text], i) => [String(i + 1), text!.includes("Result: yes") ? 0.9 : 0.1]),
      );
      const content = says ?? JSON.stringify({ scores });
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { content } }] }));
    });
  });
}

const judgeAt = ({ url }: TestServer): GroupEvaluator =>
  relativeJudge({ baseUrl: `${url}/v1`, model: "judge", retries: 1 });

const numbers = (outputDir: string): Record<string, number>[] =>
  readLines(outputDir, "coin", "metrics.jsonl") as Record<string, number>[];

const episodesOf = (outputDir: string): Episode[] =>
  readLines(outputDir, "coin", "episodes", "000001.jsonl") as unknown as Episode[];

async function errorOf(work: Promise<unknown>): Promise<AgentTrainerError> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(AgentTrainerError.isInstance(error), String(error)).toBe(true);
  return error as AgentTrainerError;
}

describe("a group evaluator", () => {
  it.each([false, true])("is all that a run learns from (asynchronously: %s)", async (enable) => {
    await using judge = await serveJudge();
    const outputDir = newFolder();
    const set = { "trainer.total_batches": 8, "async_training.enable": enable };
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      ...{ ...unscored, outputDir, backend, set },
      groupEvaluator: judgeAt(judge),
    } as object);
    expect((await trainer.train()).status).toBe("completed");
    // It starts at 0, where "yes" and "no" are as likely.
    expect(backend.weight).toBeGreaterThan(0.5);
    const metrics = numbers(outputDir);
    expect(metrics[0]!["time/episode/group_evaluator_s"]).toBeGreaterThan(0);
    // Which is better says nothing about what is right.
    expect(metrics[0]).not.toHaveProperty("rollout/pass@1");
  });

  it("replaces the evaluator's rewards in training, and sees them; validations keep the evaluator", async () => {
    const outputDir = newFolder();
    const seen: number[] = [];
    const groupEvaluator: GroupEvaluator = (task, episodes, { signal }) => {
      seen.push(...episodes.map(({ reward }) => reward!));
      expect([task.id, signal.aborted]).toEqual([episodes[0]!.task.id, false]);
      return episodes.map(({ output }) => ({
        reward: output === "yes" ? -1 : 1,
        isCorrect: null,
        signals: [{ name: "rank", value: 7 }],
      }));
    };
    const { trainer } = coinTrainer({
      outputDir,
      groupEvaluator,
      valDataset: coinTasks,
      set: { "trainer.total_batches": 1, "rollout.n_val": 4 },
    } as object);
    const { validation } = await trainer.train();
    const step = readLines(outputDir, "coin", "metrics.jsonl").find(
      (line) => line["step"] === 1 && line["phase"] === "train",
    ) as Record<string, number>;
    const yes = seen.filter((reward) => reward === 1).length / seen.length;
    expect(step["reward/mean"]).toBeCloseTo(1 - 2 * yes, 6);
    expect(step["episode/evaluator_reward"]).toBeCloseTo(yes, 6);
    expect(step["episode/signal/rank"]).toBe(7);
    expect(step["rollout/pass@1"]).toBeCloseTo(yes, 6);
    expect(validation!["val/reward/mean"]).toBeGreaterThanOrEqual(0);
    expect(validation).not.toHaveProperty("val/signal/rank");
  });

  it("compares only what did not fail, and gives failures their reward", async () => {
    const outputDir = newFolder();
    const sizes: number[] = [];
    const { trainer } = coinTrainer({
      ...unscored,
      outputDir,
      agentFlow: async (task: never, config: Parameters<typeof coinAgent>[1]) => {
        const output = await coinAgent(task, config);
        if (config.sessionUid.includes("/0")) throw new Error("broken");
        return output;
      },
      groupEvaluator: (_task: unknown, episodes: readonly Episode[]) => {
        sizes.push(episodes.length);
        return episodes.map((_episode, i) => i / 4);
      },
      set: { "trainer.total_batches": 1, "rollout.failure_reward": -1 },
    } as object);
    await trainer.train();
    expect(sizes).toEqual([3, 3]);
    const rewards = episodesOf(outputDir).map(({ reward }) => reward);
    expect(rewards.toSorted((a, b) => a! - b!)).toEqual([-1, -1, 0, 0, 0.25, 0.25, 0.5, 0.5]);
  });

  it("that fails fails the rollouts, with its words, and the run keeps what it has", async () => {
    await using judge = await serveJudge("Both attempts are great!");
    for (const enable of [false, true]) {
      const outputDir = newFolder();
      const { trainer, events } = coinTrainer({
        ...unscored,
        outputDir,
        groupEvaluator: judgeAt(judge),
        set: { "async_training.enable": enable },
      } as object);
      const { code, message } = await errorOf(trainer.train());
      expect(code).toBe("TOO_MANY_FAILURES");
      expect(message).toMatch(
        /The group evaluator failed on task "task-\d": AgentTrainerError: The judge "judge" gave no score in 2 tries; last: the response is not a score: "Both attempts are great!"/u,
      );
      expect(events.filter(({ type }) => type === "evaluator-error").length).toBeGreaterThan(0);
      if (enable) continue;
      for (const episode of episodesOf(outputDir)) {
        expect(episode).toMatchObject({ reward: null, terminationReason: "evaluator_error" });
      }
    }
  });

  it("may fail now and then", async () => {
    const outputDir = newFolder();
    const { trainer } = coinTrainer({
      ...unscored,
      outputDir,
      groupEvaluator: (task: { id: string }, episodes: readonly Episode[]) =>
        task.id === "task-0" ? [1] : episodes.map(({ output }) => output === "yes"),
      set: { "trainer.max_failed_fraction": 1, "trainer.total_batches": 5 },
    } as object);
    const { status } = await trainer.train();
    expect(status).toBe("completed");
    const errors = readLines(outputDir, "coin", "events.jsonl").filter(
      ({ type }) => type === "evaluator-error",
    );
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]!["error"]).toEqual({
      name: "AgentTrainerError",
      message: 'The group evaluator returned 1 results for 4 rollouts of task "task-0".',
    });
  });

  it("is named by an option", async () => {
    const folder = newFolder();
    writeFileSync(
      join(folder, "judge.mjs"),
      "export const groupEvaluator = (task, episodes) => episodes.map(({ output }) => output === 'yes');",
    );
    const set = {
      group_evaluator: join(folder, "judge.mjs"),
      "trainer.total_batches": 1,
    };
    const { trainer } = coinTrainer({ ...unscored, outputDir: folder, set } as object);
    await trainer.train();
    expect(numbers(folder)[0]).toHaveProperty("reward/mean");
  });

  it("is refused where it has nothing to compare, by name", async () => {
    const groupEvaluator: GroupEvaluator = (_task, episodes) => episodes.map(() => 1);
    const train = (more: object) =>
      errorOf(coinTrainer({ ...unscored, groupEvaluator, ...more } as object).trainer.train());
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ set: { "rollout.n": 1 } }, /but rollout\.n is 1/u],
      [
        { set: { "rollout.reward_source": "rollout" } },
        /reward_source=rollout and group_evaluator/u,
      ],
      [{ valDataset: coinTasks }, /validation data, but no evaluator/u],
    ];
    for (const [more, message] of cases) expect((await train(more)).message).toMatch(message);
    expect(() => coinTrainer({ ...unscored } as object)).toThrow(/needs evaluator/u);
    expect(() => coinTrainer({ ...unscored, groupEvaluator: {} } as object)).toThrow(
      /groupEvaluator must be a function, but is object/u,
    );
    const both = { groupEvaluator, set: { group_evaluator: "judge.mjs" } };
    expect(() => coinTrainer(both as object)).toThrow(
      /group_evaluator="judge.mjs" would be ignored/u,
    );
  });
});
