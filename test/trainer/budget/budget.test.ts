/** Budgets of runs of the coin policy: where they end, what they say, and what they leave. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { Budget } from "../../../src/trainer/budget/budget.ts";
import { estimateRun, formatEstimate } from "../../../src/trainer/budget/estimate.ts";
import { checkPrices, runPrices } from "../../../src/trainer/budget/run-prices.ts";
import { coinBackend } from "../coin-backend.ts";
import { coinTasks, coinTrainer, newFolder, readLines } from "../coin-run.ts";

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

  it("has no price for a server of one's own, nor for a model that is not listed", () => {
    const own = configOf({ tinker_base_url: "http://127.0.0.1:8000" });
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
