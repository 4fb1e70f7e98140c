/** `backend: verl` as the command line makes it, with the toy policy. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadBackend } from "../../src/cli/load-backend.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { AgentTrainer } from "../../src/trainer/agent-trainer.ts";
import { loadConfig } from "../../src/trainer/config/load.ts";
import { coinAgent, coinTasks, readLines } from "../trainer/coin-run.ts";
import { hasPython } from "./fake-bridge.ts";

const model = fileURLToPath(new URL("../../models/shop-tiny/", import.meta.url));

const overrides = (outputDir: string): string[] => [
  `model.name=${model}`,
  "backend=verl",
  "verl.engine=fake",
  "data.train_batch_size=2",
  "rollout.n=4",
  "rollout.train.max_tokens=3",
  "trainer.total_batches=2",
  `trainer.output_dir=${outputDir}`,
  "trainer.experiment_name=fake",
];

it.skipIf(!hasPython)("trains with one line of the configuration changed", async () => {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));
  const { config } = loadConfig({ overrides: overrides(outputDir) });
  await using backend: TrainingBackend = await loadBackend(config, ".");
  expect(backend.name).toBe("verl");
  const trainer = new AgentTrainer({
    backend,
    agentFlow: coinAgent,
    evaluator: (_task, { output }) => String(output).length,
    trainDataset: coinTasks,
    config,
  });
  expect(await trainer.train()).toMatchObject({ status: "completed", steps: 2 });
  const [line] = readLines(outputDir, "fake", "metrics.jsonl");
  expect(line).toMatchObject({ "rollout/failed": 0, "episode/calls/untrainable": 0 });
  expect(line!["tokens/sampled"]).toBeGreaterThan(8);
});

it("refuses a loss that verl has no equal of, and names the backends that do", async () => {
  const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));
  const { config } = loadConfig({ overrides: [...overrides(outputDir), "algorithm.loss_fn=gmpo"] });
  await using backend: TrainingBackend = await loadBackend(config, ".");
  const make = (): AgentTrainer =>
    new AgentTrainer({
      ...{ backend, agentFlow: coinAgent, evaluator: () => 1, trainDataset: coinTasks },
      config,
    });
  expect(make).toThrow(/The backend "verl" does not honour algorithm\.loss_fn="gmpo".*local/);
});
