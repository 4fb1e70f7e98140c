import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { AgentTrainerError } from "../../src/core/errors.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import type { EvaluationItem } from "../../src/runs/evaluations/evaluation-item.ts";
import { createScriptedTarget, createUpstream } from "../../src/testing/index.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import {
  coinAgent,
  coinConfig,
  coinEvaluator,
  coinTasks,
  coinTrainer,
  newFolder,
  readLines,
} from "../trainer/coin-run.ts";

const yesNo = (right: (text: string) => boolean) =>
  createScriptedTarget(({ text }) => (right(text) ? "yes" : "no"));
const coin = { agentFlow: coinAgent, evaluator: coinEvaluator, dataset: coinTasks } as const;
const withoutClock = (metrics: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith("time/")));
const errorOf = async (work: Promise<unknown>): Promise<AgentTrainerError> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(AgentTrainerError.isInstance(error), String(error)).toBe(true);
  return error as AgentTrainerError;
};

describe("evaluate", () => {
  it("scores a scripted model, task by task", async () => {
    const seen: string[] = [];
    const { status, summary, items, folder } = await evaluate({
      ...coin,
      model: yesNo((text) => /Question [03]/u.test(text)),
      onResult: ({ id }, { done, planned }) => seen.push(`${id} ${done}/${planned}`),
    });
    expect({ status, folder }).toEqual({ status: "completed", folder: null });
    expect(items.map(({ id, reward }) => [id, reward])).toEqual(
      coinTasks.map(({ id }, i) => [id, i === 0 || i === 3 ? 1 : 0]),
    );
    expect(summary).toMatchObject({
      status: "completed",
      tasks: 5,
      rollouts: 5,
      planned: 5,
      failed: 0,
      n: 1,
      terminationReasons: { completed: 5 },
      errors: [],
    });
    expect(summary.passAt["1"]?.mean).toBe(2 / 5);
    expect(summary.reward?.mean).toBe(2 / 5);
    // Resampling 5 tasks of which 2 are solved: binomial(5, 0.4) / 5, whose 2.5 % quantile is 0.
    expect(summary.passAt["1"]).toMatchObject({ low: 0, high: 0.8 });
    expect(seen).toHaveLength(5);
    expect(seen.at(-1)).toMatch(/ 5\/5$/u);
    expect(summary.usage.calls).toBe(5);
    expect(summary.usage.responseTokens).toBe(2 * "yes_".length + 3 * "no_".length);
  });

  it("goes on where an agent ends the process: only its attempt fails, as in a run", async () => {
    const [first] = coinTasks;
    const { status, items } = await evaluate({
      ...coin,
      model: yesNo(() => true),
      agentFlow: async (task, config) => {
        if (task.id === first!.id) process.exit(0);
        return await coinAgent(task, config);
      },
    });
    expect(status).toBe("completed");
    expect(items.map(({ reward }) => reward)).toEqual([null, 1, 1, 1, 1]);
    expect(items[0]!.error?.message).toContain("would have ended the whole run");
  });

  it("gives what a validation of the trainer gives, digit by digit", async () => {
    const outputDir = newFolder();
    const dataset = coinTasks.map((task, i) => ({
      ...task,
      metadata: { data_source: i < 2 ? "a" : "b" },
    }));
    const set = { "rollout.n_val": 3, "rollout.val.temperature": 1, "trainer.seed": 11 };
    const { trainer } = coinTrainer({ outputDir, valDataset: dataset, set });
    const trained = await trainer.train();
    const config = { ...coinConfig(outputDir), ...set };
    const after = await evaluate({
      ...coin,
      dataset,
      config,
      model: trained.checkpoint as string,
      backend: coinBackend(),
    });
    expect(withoutClock(after.summary.metrics)).toEqual(withoutClock(trained.validation!));
    // The run's folder is its newest checkpoint, and its configuration that of the run.
    const { summary } = await evaluate({
      ...coin,
      dataset,
      model: trained.runDir,
      backend: coinBackend(),
    });
    expect(withoutClock(summary.metrics)).toEqual(withoutClock(trained.validation!));
    const before = readLines(trained.runDir, "metrics.jsonl").find(
      ({ step, phase }) => step === 0 && phase === "validation",
    );
    const untrained = await evaluate({ ...coin, dataset, config, backend: coinBackend() });
    const { step: _step, phase: _phase, ...numbers } = before!;
    expect(withoutClock(untrained.summary.metrics)).toEqual(
      withoutClock(numbers as Record<string, number>),
    );
    expect(summary.sources["a"]?.passAt["2"]?.mean).toBe(trained.validation!["val/a/pass@2"]);
    expect(Object.keys(summary.passAt)).toEqual(["1", "2", "3"]);
  });

  it("evaluates what the run held out, whatever the seed of the evaluation and of its file", async () => {
    const outputDir = newFolder();
    const file = join(newFolder(), "tasks.jsonl");
    const rows = Array.from({ length: 40 }, (_, i) => ({ id: `t${i}`, instruction: `${i}?` }));
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const set = {
      "dataset.train": file,
      "dataset.val_fraction": 0.2,
      "dataset.val_limit": 6,
      "trainer.total_batches": 1,
    };
    const heldOut = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id).sort();
    const { trainer, events } = coinTrainer({
      outputDir,
      trainDataset: null as never,
      set: { ...set, "trainer.seed": 3 },
    });
    const { runDir } = await trainer.train();
    const validation: unknown = events.find(({ type }) => type === "validation-end");
    const expected = heldOut((validation as { episodes: Episode[] }).episodes.map((e) => e.task));
    expect(expected).toHaveLength(6);

    const tasksOf = async (more: object) => {
      const { agentFlow, evaluator } = coin;
      const options = { agentFlow, evaluator, model: runDir, backend: coinBackend(), ...more };
      return heldOut((await evaluate(options as never)).items);
    };
    expect(await tasksOf({ seed: 11 })).toEqual(expected);
    // The file of the run, which was started with another seed on the command line.
    const { config } = loadConfig({ overrides: { ...coinConfig(outputDir), ...set } });
    expect(await tasksOf({ config, seed: 12 })).toEqual(expected);
  });

  it("sends the sampling options of the validation to an endpoint, and captures text, usage and latency", async () => {
    await using upstream = await createUpstream({
      kind: "openai",
      script: ({ text }) => (text.includes("Question 1") ? "yes" : "no"),
    });
    const episodes: Episode[] = [];
    const { summary, items } = await evaluate({
      ...coin,
      evaluator: (_task: Task, episode: Episode) => {
        episodes.push(episode);
        return episode.output === "yes";
      },
      model: { url: `${upstream.url}/v1`, apiKey: "key-of-the-endpoint" },
      config: { "rollout.val.temperature": 0, "rollout.val.max_tokens": 9 },
    });
    expect(upstream.calls.map(({ body }) => [body["temperature"], body["max_tokens"]])).toEqual(
      coinTasks.map(() => [0, 9]),
    );
    expect(summary.passAt["1"]?.mean).toBe(1 / 5);
    expect(summary.model).toBe(`scripted at ${upstream.url}/v1`);
    const [step] = episodes.flatMap(({ trajectories }) =>
      trajectories.flatMap(({ steps }) => steps),
    );
    expect(step?.trace.response.content).toMatch(/yes|no/u);
    expect(upstream.calls[0]?.headers.authorization).toBe("Bearer key-of-the-endpoint");
    for (const { usage, latencyMs } of items) {
      expect(usage.calls).toBe(1);
      expect(usage.promptTokens).toBeGreaterThan(10);
      expect(usage.responseTokens).toBeGreaterThan(1);
      expect(latencyMs).toBeGreaterThanOrEqual(0);
    }
    expect(JSON.stringify(summary)).not.toContain("key-of-the-endpoint");
  });

  it("says of an endpoint that is down what it is and why, and keeps what it has", async () => {
    const model = "http://127.0.0.1:9/v1";
    const error = await errorOf(evaluate({ ...coin, model }));
    expect(error.message).toBe(
      `The endpoint ${model} cannot be used: The connection to the worker "${model}" failed (ECONNREFUSED).`,
    );
    expect(error.hint).toContain("Check that it is running");
    const folder = join(newFolder(), "eval");
    const many = await errorOf(
      evaluate({ ...coin, n: 2, folder, model: { url: model, name: "m", kind: "openai" } }),
    );
    expect(many.message).toMatch(/the last 8 attempts failed.*ECONNREFUSED/u);
    expect(readLines(folder, "results.jsonl").length).toBeGreaterThanOrEqual(8);
    expect(existsSync(join(folder, "summary.json"))).toBe(true);
  });

  it("counts what fails as failed, with its reason, and attempts nothing twice", async () => {
    const attempts = new Map<string, number>();
    const { summary, items } = await evaluate({
      ...coin,
      agentFlow: async (task, config) => {
        attempts.set(task.id, (attempts.get(task.id) ?? 0) + 1);
        const output = await coinAgent(task, config);
        if (task.id === "task-2") throw new Error("the tool is down");
        return output;
      },
      evaluator: (task, episode) => (task.id === "task-4" ? Number.NaN : episode.output === "yes"),
      model: yesNo(() => true),
      config: { workflow: { retryLimit: 5 } },
    });
    expect([...attempts.values()]).toEqual([1, 1, 1, 1, 1]);
    expect(items[2]).toMatchObject({
      reward: 0,
      isCorrect: false,
      terminationReason: "error",
      error: { message: "the tool is down" },
    });
    expect(items[4]).toMatchObject({
      reward: null,
      terminationReason: "evaluator_error",
      error: { code: "EVALUATOR_FAILED" },
    });
    expect(summary).toMatchObject({ failed: 2, terminationReasons: { completed: 3, error: 1 } });
    expect(summary.passAt["1"]?.mean).toBe(3 / 5);
    expect(summary.errors.map(({ message }) => message)).toContain("Error: the tool is down");
  });
});

describe("the folder of an evaluation", () => {
  it("is resumed: only attempts without a result run, and the numbers are those of one run", async () => {
    const folder = join(newFolder(), "eval");
    const stop = new AbortController();
    const model = (): ReturnType<typeof createScriptedTarget> =>
      yesNo((text) => /[024]/u.test(text));
    const options = { ...coin, n: 2, concurrency: 1, folder };
    const first = await evaluate({
      ...options,
      model: model(),
      signal: stop.signal,
      onResult: (_item, { done }) => {
        if (done === 3) stop.abort();
      },
    });
    expect(first.status).toBe("interrupted");
    expect(first.summary).toMatchObject({ status: "interrupted", rollouts: 3, planned: 10 });
    const summaryFile = join(folder, "summary.json");
    expect(JSON.parse(readFileSync(summaryFile, "utf8"))).toEqual(first.summary);

    const ran: string[] = [];
    const onResult = ({ id, attempt }: EvaluationItem): void => void ran.push(`${id}/${attempt}`);
    const second = await evaluate({ ...options, model: model(), resume: true, onResult });
    expect(ran).toHaveLength(7);
    expect(second.summary).toMatchObject({ status: "completed", rollouts: 10 });
    const whole = await evaluate({ ...options, folder: `${folder}-whole`, model: model() });
    const { latencyMs: _one, metrics: one, ...rest } = second.summary;
    const { latencyMs: _two, metrics: two, ...expected } = whole.summary;
    expect(rest).toEqual(expected);
    expect(withoutClock(one)).toEqual(withoutClock(two));
    expect(readLines(folder, "results.jsonl")).toHaveLength(10);
    expect(readLines(folder, "episodes.jsonl")).toHaveLength(10);

    const other = await errorOf(evaluate({ ...options, model: model(), resume: true, n: 3 }));
    expect(other.message).toContain("n was 2 and is 3");
    const locked = await errorOf(
      evaluate({
        ...options,
        folder: `${folder}-locked`,
        model: model(),
        agentFlow: async () => {
          await evaluate({ ...options, folder: `${folder}-locked`, model: model(), resume: true });
        },
      }),
    );
    expect(locked.message).toContain("Another process is using the folder of the evaluation");
    const again = await errorOf(evaluate({ ...options, model: model() }));
    expect(again.message).toContain("already holds an evaluation");
  });

  it("keeps partial results when the endpoint goes down, and completes when it is back", async () => {
    const folder = join(newFolder(), "eval");
    const dataset = Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, instruction: `Q${i}` }));
    let isDown = false;
    await using upstream = await createUpstream({
      kind: "openai",
      script: () => "yes",
      fault: (call) => (isDown && call >= 5 ? { type: "status", status: 500 } : undefined),
    });
    isDown = true;
    const model = {
      kind: "http",
      workers: [{ url: upstream.url, kind: "openai", modelName: "scripted" }],
      maxAttempts: 1,
    } as const;
    const options = { ...coin, dataset, model, folder, concurrency: 1 };
    const error = await errorOf(evaluate(options));
    expect(error.code).toBe("TOO_MANY_FAILURES");
    expect(error.message).toMatch(/the last 8 attempts failed without a model response.*500/su);
    expect(JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"))).toMatchObject({
      status: "failed",
      rollouts: 13,
      failed: 8,
    });
    isDown = false;
    const { summary } = await evaluate({ ...options, resume: true });
    expect(summary).toMatchObject({ status: "completed", rollouts: 20, failed: 0 });
    expect(summary.passAt["1"]?.mean).toBe(1);
  });
});

describe("an evaluation that cannot run", () => {
  it("says which model, dataset or option is wrong", async () => {
    const folder = newFolder();
    const message = async (options: object): Promise<string> =>
      (await errorOf(evaluate({ ...coin, ...options } as Parameters<typeof evaluate>[0]))).message;
    expect(await message({ model: "http://127.0.0.1:1/v1" })).toMatch(/127\.0\.0\.1:1/u);
    expect(await message({ model: { nothing: 1 } })).toContain("nor an object with a url");
    expect(await message({ model: yesNo(() => true), n: 0 })).toContain("rollout.n_val");
    expect(await message({ model: yesNo(() => true), limit: 1.5 })).toContain("limit must be");
    expect(await message({ model: yesNo(() => true), dataset: undefined })).toContain(
      "dataset.val is not set",
    );
    expect(await message({ model: yesNo(() => true), dataset: [{ question: 3 }] })).toContain(
      "row 1 of the validation data",
    );
    expect(await message({ model: yesNo(() => true), resume: true })).toContain("needs the folder");
    expect(await message({ model: yesNo(() => true), resume: true, folder })).toContain(
      "evaluation.json cannot be used: it does not exist",
    );
    expect(existsSync(join(folder, "results.jsonl"))).toBe(false);
    expect(await message({})).toContain("model.name");
    expect(await message({ model: yesNo(() => true), backend: coinBackend() })).toContain(
      "cannot be combined",
    );
  });
});
