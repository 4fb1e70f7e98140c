/** `backend: verl` as the command line makes it, with the toy policy. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createBackend } from "../../src/launch/create-backend.ts";
import { checkCapabilities } from "../../src/trainer/check-capabilities.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { loadConfig } from "../../src/config/load.ts";
import { coinAgent, coinTasks, readLines } from "../trainer/coin-run.ts";
import { fakeBackend, fakeEnv, fakeRun, hasPython } from "./fake-bridge.ts";

const model = fileURLToPath(new URL("../../models/shop-tiny/", import.meta.url));

const overrides = (outputDir: string): string[] => [
  `model.name=${model}`,
  "backend=verl",
  "data.train_batch_size=2",
  "rollout.n=4",
  "rollout.train.max_tokens=3",
  "trainer.total_batches=2",
  `trainer.output_dir=${outputDir}`,
  "trainer.experiment_name=fake",
];

beforeEach(() => {
  for (const [name, value] of Object.entries(fakeEnv)) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

it.skipIf(!hasPython)("trains with one line of the configuration changed", async () => {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));
  const { config } = loadConfig({ overrides: overrides(outputDir) });
  const trainer = new AgentTrainer({
    agentFlow: coinAgent,
    evaluator: (_task, { output }) => String(output).codePointAt(0) ?? 0,
    trainDataset: coinTasks,
    config,
  });
  expect(await trainer.train()).toMatchObject({ status: "completed", steps: 2 });
  const [line] = readLines(outputDir, "fake", "metrics.jsonl");
  expect(line).toMatchObject({ "rollout/failed": 0, "episode/calls/untrainable": 0 });
  expect(line!["tokens/sampled"]).toBeGreaterThan(8);
});

async function accepts(...more: string[]): Promise<boolean> {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));
  const { config } = loadConfig({ overrides: [...overrides(outputDir), ...more] });
  await using backend: TrainingBackend = await createBackend(config, ".");
  checkCapabilities(config, backend);
  return true;
}

it("refuses rollouts during updates where servers sleep meanwhile, and names the backends that do", async () => {
  const asynchronous = "async_training.enable=true";
  await expect(accepts(asynchronous)).rejects.toThrow(
    /The backend "verl" does not support async_training\.enable=true.*local/,
  );
  expect(await accepts(asynchronous, "verl.placement=disaggregated")).toBe(true);
});

it("keeps the model as it was loaded where a penalty asks for it", async () => {
  expect(await accepts("algorithm.kl_beta=0.1")).toBe(true);
  await using backend = fakeBackend({ run: fakeRun });
  expect(backend.capabilities).toMatchObject({ klEstimators: [], reference: false });
});
