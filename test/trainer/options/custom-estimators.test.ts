import { describe, expect, it } from "vitest";
import type { AdvantageEstimator } from "../../../src/algorithms/estimators.ts";
import { loadConfig, resolveConfig } from "../../../src/config/load.ts";
import {
  requireFunctions,
  takeFunctions,
  withLoaded,
} from "../../../src/trainer/custom-algorithms.ts";
import { coinBackend } from "../coin-backend.ts";
import { coinTrainer, readLines } from "../coin-run.ts";

const twice: AdvantageEstimator = (groups) =>
  groups.map((rewards) => Float64Array.from(rewards, (reward) => 2 * reward));

const config = (...overrides: string[]) =>
  loadConfig({ overrides: ["model.name=m", ...overrides] }).config;

describe("estimators of the user", () => {
  it("are what a run learns by, and stand in its folder by name", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      set: {
        algorithm: { estimator: twice, filterUniformGroups: false },
        "trainer.total_batches": 2,
      },
    });
    expect(trainer.config.algorithm.estimator).toEqual({ type: "code#twice", normByStd: true });
    const { runDir } = await trainer.train();
    const values = backend.updates.flatMap(({ rows }) =>
      rows.map(({ advantages }) => Math.max(...advantages)),
    );
    expect(new Set(values)).toEqual(new Set([0, 2]));
    const [first] = readLines(runDir, "metrics.jsonl");
    expect(first?.["advantage/agent/max"]).toBe(2);
  });

  it("may be of single roles, next to names", () => {
    const { config: named, functions } = takeFunctions({
      model: { name: "m" },
      algorithm: { estimatorByRole: { judge: twice, solver: "opo" } },
    });
    expect(resolveConfig(named).algorithm.estimatorByRole).toEqual([
      { role: "judge", type: "code#estimatorByRole.judge", normByStd: true },
      { role: "solver", type: "opo" },
    ]);
    expect(functions.estimators.get("code#estimatorByRole.judge")).toBe(twice);
  });

  it("are found by the names that options give them", () => {
    const options = config("algorithm.estimator=./mine.ts#twice");
    const none = takeFunctions({}).functions;
    const loaded = withLoaded(none, { estimators: { "./mine.ts#twice": twice } });
    expect(loaded.estimators.get("./mine.ts#twice")).toBe(twice);
    expect(() => requireFunctions(options, loaded)).not.toThrow();
    expect(() => requireFunctions(options, none, () => true)).not.toThrow();
    expect(() => requireFunctions(options, none)).toThrow(
      "name the estimator ./mine.ts#twice, but no function came with it",
    );
  });

  it("must be functions that keep the shape of the rewards", async () => {
    expect(() => takeFunctions({ algorithm: { estimator: 3 as never } })).toThrow(
      "algorithm.estimator must be a function",
    );
    const { trainer } = coinTrainer({ set: { algorithm: { estimator: () => [] } } });
    await expect(trainer.train()).rejects.toThrow("returned groups of sizes []");
  });

  it("do not make losses, which need log-probabilities of the backend", () => {
    expect(() => coinTrainer({ set: { algorithm: { loss: () => 0 } } })).toThrow(
      'The backend "coin" does not support algorithm.loss.type="code#loss"',
    );
  });
});

describe("algorithm.estimator_by_role", () => {
  it("warns once of a role that no rollout has", async () => {
    const { trainer, events } = coinTrainer({
      set: { "algorithm.estimator_by_role": ["agnet=rloo"], "trainer.total_batches": 3 },
    });
    await trainer.train();
    const warnings = events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
    expect(warnings.filter((text) => text.includes("estimator_by_role"))).toEqual([
      "algorithm.estimator_by_role names the role agnet, but step 1 had agent only. Is it agent?",
    ]);
  });
});

describe("options that have no effect", () => {
  it("are said when the run starts", async () => {
    const { trainer, events } = coinTrainer({
      set: { "rllm.gateway.store": "sqlite", "trainer.total_batches": 1 },
    });
    await trainer.train();
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "warning",
        message: expect.stringContaining("rllm.gateway.store has no effect"),
      }),
    );
  });
  it("of sampling are said where log-probabilities do not see them", async () => {
    const { trainer, events } = coinTrainer({
      set: { "rollout.train.top_p": 0.7, "trainer.total_batches": 1 },
    });
    await trainer.train();
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "warning",
        message: expect.stringContaining("rollout.train.top_p=0.7: tokens are sampled from a part"),
      }),
    );
  });
});
