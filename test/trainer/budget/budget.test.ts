/** Budgets of runs of the coin policy: where they end, what they say, and what they leave. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../../src/core/agent.ts";
import { overlay } from "../../../src/core/overlay.ts";
import type { Task } from "../../../src/core/task.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { Budget, type Spending } from "../../../src/trainer/budget/budget.ts";
import { estimateRun, formatEstimate } from "../../../src/trainer/budget/estimate.ts";
import { checkPrices, runPrices } from "../../../src/trainer/budget/run-prices.ts";
import { spentBefore, writeSpent } from "../../../src/trainer/budget/spent-file.ts";
import { createByteRenderer, createUpstream } from "../../../src/testing/index.ts";
import { allCapabilities, coinBackend } from "../coin-backend.ts";
import { coinConfig, coinTasks, coinTrainer, newFolder, readLines } from "../coin-run.ts";

const usd = { prompt: 2, sampled: 10, trained: 5 };

/** A whole run without a limit: what its steps take. */
async function unlimited(): Promise<readonly Readonly<Record<string, number>>[]> {
  const outputDir = newFolder();
  const { trainer } = coinTrainer({ outputDir, set: { "budget.prices": usd } });
  await trainer.train();
  return readLines(outputDir, "coin", "metrics.jsonl") as never;
}

describe("spending", () => {
  it("counts every prompt, sample and trained row, and what they cost", async () => {
    const [first, ...rest] = await unlimited();
    const calls = 2 * 4;
    const { "tokens/sampled": sampled = 0, "spent/prompt_tokens": prompt = 0 } = first!;
    expect(first!["spent/sampled_tokens"]).toBe(sampled);
    // Each task's prompt is as long as the others.
    expect(prompt % calls).toBe(0);
    expect(first!["spent/trained_tokens"]).toBe(prompt + sampled);
    expect(first!["spent/tokens"]).toBe(2 * (prompt + sampled));
    const cost = (prompt * 2 + sampled * 10 + (prompt + sampled) * 5) / 1e6;
    expect(first!["spent/usd"]).toBeCloseTo(cost, 12);
    expect(rest.at(-1)!["spent/prompt_tokens"]).toBe(4 * prompt);
  });

  it("is not reported where nothing is limited or priced", async () => {
    const { trainer, events } = coinTrainer({ set: { "trainer.total_batches": 1 } });
    await trainer.train();
    const end = events.find(({ type }) => type === "step-end") as { metrics: object } | undefined;
    expect(Object.keys(end!.metrics).filter((name) => name.startsWith("spent/"))).toEqual([]);
  });
});

describe("a budget", () => {
  it.each(["tokens", "usd"] as const)(
    "of %s ends the run before the step that would exceed it, with a checkpoint",
    async (kind) => {
      const spent = (await unlimited()).map((line) => line[`spent/${kind}`]!);
      const outputDir = newFolder();
      // Two steps fit; the second is expected to take as much as the first.
      const limit = Math.max(2 * spent[0]!, spent[1]!) + (kind === "tokens" ? 1 : 1e-6);
      const set = { "budget.prices": usd, [`budget.${kind}`]: limit };
      const { trainer, events } = coinTrainer({ outputDir, set });
      const result = await trainer.train();
      expect(result).toMatchObject({ status: "out_of_budget", steps: 2 });
      expect(result.message).toContain(`budget.${kind}=${limit} ends the run: `);
      expect(result.message).toContain(", and a step takes up to ");
      expect(result.metrics![`spent/${kind}`]).toBeLessThanOrEqual(limit);
      expect(events.at(-1)).toMatchObject({ type: "run-end", status: "out_of_budget" });
      expect(readdirSync(join(outputDir, "coin", "checkpoints"))).toEqual(["000002"]);
      // A resumed run continues to count, and has the steps that it would have had.
      const more = coinTrainer({ outputDir, set: { "budget.prices": usd }, resume: "auto" });
      expect(await more.trainer.train()).toMatchObject({ status: "completed", steps: 4 });
      const lines = readLines(outputDir, "coin", "metrics.jsonl");
      expect(lines.map((line) => line[`spent/${kind}`])).toEqual(spent);
    },
  );

  it("cuts a step off that takes more than was expected, and keeps the steps before it", async () => {
    const [first] = await unlimited();
    const outputDir = newFolder();
    const limit = first!["spent/tokens"]! + 40;
    let calls = 0;
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      outputDir,
      backend: {
        ...backend,
        async start(run) {
          const target = await backend.start(run);
          if (target.kind !== "sampler") throw new Error("a sampler was expected");
          const { sampler } = target;
          return {
            ...target,
            sampler: {
              contextLength: sampler.contextLength,
              // From the second step on, answers are longer than before.
              async sample(request) {
                const samples = await sampler.sample(request);
                return ++calls <= 8
                  ? samples
                  : samples.map((sample) => ({
                      ...sample,
                      tokens: Int32Array.from({ length: 400 }, () => sample.tokens[0]!),
                      logprobs: new Float32Array(400),
                    }));
              },
            },
          };
        },
      },
      set: { "budget.tokens": limit * 2, "workflow.n_parallel_tasks": 1 },
    });
    expect(await trainer.train()).toMatchObject({ status: "out_of_budget", steps: 1 });
    expect(calls).toBeLessThan(16);
    const state = readFileSync(
      join(outputDir, "coin", "checkpoints", "000001", "state.json"),
      "utf8",
    );
    const { sampled } = (JSON.parse(state) as { spent: { sampled: number } }).spent;
    // What the abandoned step sampled was paid for, too.
    expect(sampled).toBeGreaterThan(first!["spent/sampled_tokens"]! + 399);
  });

  it("counts steps that were cut off, and those after a checkpoint that the run goes back to", async () => {
    const outputDir = newFolder();
    const set = {
      "budget.prices": usd,
      "trainer.save_freq": 1,
      "trainer.keep_checkpoints": 4,
      "workflow.n_parallel_tasks": 1,
    };
    const stop = new AbortController();
    let calls = 0;
    const interrupted = coinTrainer({
      outputDir,
      set,
      signal: stop.signal,
      evaluator: () => {
        // In the third step, whose calls are paid for and never trained on.
        if (++calls === 20) stop.abort();
        return calls % 2 === 0;
      },
    });
    expect(await interrupted.trainer.train()).toMatchObject({ status: "interrupted", steps: 2 });
    const runDir = join(outputDir, "coin");
    const spentOf = (step: number) =>
      readLines(runDir, "metrics.jsonl").findLast((line) => line["step"] === step)![
        "spent/prompt_tokens"
      ] as number;
    // Each of its calls has the same prompt: 8 in a step, 4 in the one that was cut off.
    const perCall = spentOf(1) / 8;
    expect(spentOf(2)).toBe(16 * perCall);
    const resumed = coinTrainer({ outputDir, set, resume: "auto" });
    await resumed.trainer.train();
    expect(spentOf(3)).toBe((16 + 4 + 8) * perCall);
    expect(spentOf(4)).toBe((16 + 4 + 16) * perCall);
    // Back to the first checkpoint: the three steps after it were paid for all the same.
    const back = coinTrainer({ outputDir, set, resume: join(runDir, "checkpoints", "000001") });
    await back.trainer.train();
    expect(spentOf(2)).toBe((16 + 4 + 16 + 8) * perCall);
    const kept = JSON.parse(readFileSync(join(runDir, "spent.json"), "utf8")) as object;
    expect(kept).toMatchObject({ prompt: spentOf(4), hours: 0 });
  });

  it("counts every sampled choice of inference servers, also those that are not trained on", async () => {
    const lengths = [3, 5, 8, 12];
    await using upstream = await createUpstream({
      script: ({ choice }) => "y".repeat(lengths[choice]!),
    });
    const coin = coinBackend();
    const backend = overlay<typeof coin>(coin, {
      start: async () => ({
        kind: "http",
        workers: [{ url: upstream.url }],
        renderer: createByteRenderer(),
      }),
    });
    const agentFlow = async (task: Task, config: AgentConfig): Promise<string> => {
      const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
      const messages = [{ role: "user" as const, content: task.instruction }];
      const { choices } = await client.chat.completions.create({
        model: config.model,
        messages,
        n: 4,
      });
      return choices[1]!.message.content!;
    };
    let scored = 0;
    const { trainer } = coinTrainer({
      backend,
      agentFlow,
      evaluator: () => scored++ % 2 === 0,
      set: { "budget.prices": usd, "trainer.total_batches": 1 },
    });
    const { metrics } = await trainer.train();
    const calls = 8;
    // Each choice ends with its stop token.
    const sampled = lengths.reduce((sum, length) => sum + length + 1, 0);
    expect(metrics!["spent/sampled_tokens"]).toBe(calls * sampled);
    expect(metrics!["spent/prompt_tokens"]! % (calls * 4)).toBe(0);
    expect(metrics!["tokens/sampled"]).toBe(calls * (lengths[1]! + 1));
  });

  it("ends an asynchronous run between two steps", async () => {
    const set = { "async_training.enable": true, "budget.tokens": 1 };
    const { trainer } = coinTrainer({ set });
    const result = await trainer.train();
    expect(result).toMatchObject({ status: "out_of_budget", steps: 1 });
  });

  it("of US dollars is refused where no price is known, by name", async () => {
    const { trainer } = coinTrainer({ set: { "budget.usd": 1, "budget.prices.prompt": 1 } });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("budget.usd=1 cannot be kept"),
      hint: "Set budget.prices.sampled, budget.prices.trained (US dollars per million tokens), or use budget.tokens.",
    });
  });

  it("of minutes ends a run between two steps, with what earlier processes took", async () => {
    const outputDir = newFolder();
    const first = coinTrainer({
      outputDir,
      set: { "budget.minutes": 1000, "trainer.total_batches": 1 },
    });
    const done = await first.trainer.train();
    expect(done.metrics!["time/spent_s"]).toBeGreaterThan(0);
    const file = join(outputDir, "coin", "spent.json");
    const { minutes, ...spent } = JSON.parse(readFileSync(file, "utf8")) as { minutes: number };
    expect(minutes).toBeGreaterThanOrEqual(done.metrics!["time/spent_s"]! / 60);
    writeFileSync(file, JSON.stringify({ ...spent, minutes: 50 }));
    const set = { "budget.minutes": 40 };
    const result = await coinTrainer({ outputDir, set, resume: "auto" }).trainer.train();
    expect(result).toMatchObject({ status: "out_of_budget", steps: 1 });
    expect(result.message).toMatch(
      /^budget\.minutes=40 ends the run: 50 minutes are spent, and a step takes up to \S+ minutes\.$/u,
    );
    // With more time it goes on, and what an older version wrote counts no minutes.
    writeFileSync(file, JSON.stringify(spent));
    const more = coinTrainer({ outputDir, set, resume: "auto" });
    expect(await more.trainer.train()).toMatchObject({ status: "completed", steps: 4 });
  });

  it("of minutes expects a step to take as long as the longest", () => {
    let now = 0;
    const budget = new Budget({
      tokens: null,
      usd: null,
      prices: null,
      minutes: 10,
      now: () => now,
    });
    budget.stepBegins();
    now = 4 * 60_000;
    budget.stepEnds();
    expect(budget.whyStop).toBeNull();
    now = 7 * 60_000;
    expect(budget.whyStop).toBe(
      "budget.minutes=10 ends the run: 7 minutes are spent, and a step takes up to 4 minutes.",
    );
    budget.add({ sampled: 1 });
    expect(budget.signal.aborted).toBe(false);
    now = 10 * 60_000;
    budget.add({ sampled: 1 });
    expect(budget.signal.aborted).toBe(true);
  });

  it("knows the largest step of earlier processes, so that a resumed run begins none that cannot fit", () => {
    const options = { tokens: 100, usd: null, prices: null };
    const folder = newFolder();
    const keep = (spending: Spending) => writeSpent(folder, spending);
    const first = new Budget({ ...options, keep });
    first.stepBegins();
    first.add({ prompt: 30, sampled: 30 });
    first.stepEnds();
    const second = new Budget({ ...options, before: spentBefore(folder), keep });
    expect(second.whyStop).toBe(
      "budget.tokens=100 ends the run: 60 tokens are spent, and a step takes up to 60.",
    );
    const larger = new Budget({ ...options, tokens: 120, before: spentBefore(folder), keep });
    expect(larger.whyStop).toBeNull();
  });

  it("counts hours of hardware", () => {
    let now = 0;
    const budget = new Budget({ tokens: null, usd: 10, prices: null, now: () => now });
    budget.paidByHour(14);
    budget.stepBegins();
    now = 0.3 * 3_600_000;
    budget.stepEnds();
    expect(budget.metrics()["spent/usd"]).toBeCloseTo(4.2, 9);
    expect(budget.whyStop).toBeNull();
    now = 0.6 * 3_600_000;
    expect(budget.whyStop).toBe(
      "budget.usd=10 ends the run: $8.40 are spent, and a step takes up to $4.20.",
    );
  });
});

describe("an estimate", () => {
  const configOf = (overrides: Record<string, unknown>) =>
    loadConfig({ overrides: { "model.name": "Qwen/Qwen3-8B", ...overrides } }).config;

  it("multiplies tasks, rollouts and lengths, with published prices", () => {
    const config = configOf({
      "model.lora_rank": 8,
      "data.train_batch_size": 10,
      "rollout.n": 5,
      "data.max_prompt_length": 300,
      "rollout.train.max_tokens": 100,
      "algorithm.kl_beta": 0.1,
    });
    const estimate = estimateRun(config, { backend: "tinker", steps: 20 });
    expect(estimate.usage).toEqual({ prompt: 300_000, sampled: 100_000, trained: 800_000 });
    // 0.3 M at 0.195, 0.1 M at 0.60, 0.8 M at 0.44
    expect(estimate.usd).toBeCloseTo(0.0585 + 0.06 + 0.352, 12);
    expect(formatEstimate(estimate)).toContain(
      "50 rollouts × 20 steps: 300,000 prompt + 100,000 sampled + 800,000 trained = 1,200,000 tokens",
    );
    expect(formatEstimate(estimate)).toContain("$0.47 at $0.195 prompt, $0.6 sampled");
  });

  it.each([
    {},
    { "training.num_minibatches": 2 },
    { "training.ppo_epochs": 2, "algorithm.loss_by_role": {} },
    { "algorithm.use_kl_in_reward": false, "algorithm.kl_beta": 0.1 },
    { "algorithm.use_kl_in_reward": false, "training.ppo_epochs": 3 },
    { "algorithm.rollout_correction": "none" },
  ])("has the passes that a run makes: %j", async (more) => {
    const capabilities = { ...allCapabilities, forward: true, reference: true };
    const set = {
      "budget.prices": usd,
      "algorithm.use_kl_in_reward": true,
      "algorithm.kl_penalty": "k2",
      "algorithm.kl_ctrl.kl_coef": 0.1,
      "algorithm.rollout_correction": "token",
      "algorithm.filter_uniform_groups": false,
      // Another loss than the backend's for the only role: the trainer computes it.
      "algorithm.loss_by_role": { agent: "cispo" },
      "algorithm.kl_estimator": "k3",
      "trainer.total_batches": 3,
      ...more,
    };
    let scored = 0;
    const { trainer } = coinTrainer({
      backend: coinBackend({
        capabilities: { ...capabilities, klEstimators: ["k3"] },
        onForward: () => {},
      }),
      evaluator: () => scored++ % 2 === 0,
      set,
    });
    const { metrics } = await trainer.train();
    const spent = (name: string): number => metrics![`spent/${name}_tokens`]!;
    const config = loadConfig({
      overrides: { "model.name": "coin", ...coinConfig("runs"), ...set },
    });
    const { usage } = estimateRun(config.config, { backend: "coin", steps: 3, capabilities });
    // Passes over everything that was rolled out, whatever its lengths.
    const expected = usage.trained / (usage.prompt + usage.sampled);
    const made = spent("trained") / (spent("prompt") + spent("sampled"));
    expect(made).toBeCloseTo(expected, 9);
  });

  it("has no price for a server of one's own, nor for a model that is not listed", () => {
    const own = configOf({ "tinker.base_url": "http://127.0.0.1:8000" });
    expect(runPrices(own, "tinker", {})).toBeNull();
    expect(runPrices(configOf({}), "tinker", { TINKER_BASE_URL: "http://x" })).toBeNull();
    expect(runPrices(configOf({}), "tinker", {})?.source).toContain("2026-10-07");
    expect(runPrices(configOf({}), "fireworks", {})).toBeNull();
    expect(() => checkPrices(configOf({ "budget.usd": 1 }), "fireworks")).toThrow("cannot be kept");
    const estimate = estimateRun(configOf({}), { backend: "fireworks", steps: null });
    expect(formatEstimate(estimate)).toContain("No price is known");
  });

  it("is announced when a run starts that costs something", async () => {
    const set = { "budget.prices": usd, "trainer.total_batches": 1 };
    const { trainer, events } = coinTrainer({ set, trainDataset: coinTasks });
    await trainer.train();
    expect(events[0]).toMatchObject({
      type: "run-start",
      estimate: expect.stringContaining("8 rollouts × 1 steps"),
    });
  });
});
