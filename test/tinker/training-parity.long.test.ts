/** One run, in process and through a Tinker server: the same numbers, rollout by rollout. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { fetchOf, modelPath, startServer, type LocalServer } from "./local-server.ts";
import { expectClose, run, viaTinker } from "./shop-run.ts";

let local: LocalServer;
beforeAll(async () => {
  local = await startServer({ modelName: "shop-tiny" });
});
afterAll(() => local[Symbol.asyncDispose]());

it("gives metrics equal within 1e-4 for ten steps", async () => {
  const inProcess = await run(createLocalBackend({ precision: "f32" }), modelPath);
  const remote = await run(viaTinker({ fetch: fetchOf(local.server) }), "shop-tiny");
  expect(inProcess.metrics).toHaveLength(10);
  const learned = inProcess.metrics.filter((line) => line["train/skipped_steps"] === 0);
  expect(learned.length).toBeGreaterThan(3);
  expectClose(remote.metrics, inProcess.metrics);
});

it(
  "rolls out while it trains, on weights whose versions it knows",
  { timeout: 120_000 },
  async () => {
    const { metrics } = await run(viaTinker({ fetch: fetchOf(local.server) }), "shop-tiny", {
      steps: 4,
      set: { "async_training.enable": true },
    });
    expect(metrics).toHaveLength(4);
    const moved = metrics.map((line) => Number(line["train/logprob_abs_diff_mean"] ?? 0));
    // Rollouts of one version before: the weights have moved on since they were sampled.
    expect(Math.max(...moved)).toBeGreaterThan(1e-4);
  },
);
