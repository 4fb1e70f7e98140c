/** Without a configuration, or a model in it. */
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { knownModels } from "../../src/launch/init/known-models.ts";
import { defined } from "../../src/util/defined.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinAgent, coinConfig, coinEvaluator, coinTasks, newFolder } from "../trainer/coin-run.ts";

const smallest = "HuggingFaceTB/SmolLM2-135M-Instruct";
const parts = { agentFlow: coinAgent, evaluator: coinEvaluator, trainDataset: coinTasks };

afterEach(() => vi.unstubAllEnvs());

it.each([undefined, null, {}, { "data.train_batch_size": 8 }, ["data.train_batch_size=8"]])(
  "config %j trains the smallest model that is known",
  (config) => {
    const trainer = new AgentTrainer({ ...parts, ...defined({ config }) });
    expect(trainer.config.model.name).toBe(smallest);
    const isGiven = config !== undefined && config !== null && JSON.stringify(config) !== "{}";
    expect(trainer.config.data.trainBatchSize).toBe(isGiven ? 8 : 16);
  },
);

it("says so first, with the size of the download", async () => {
  const { "model.name": _, ...config } = coinConfig(newFolder());
  const said: string[] = [];
  await new AgentTrainer({
    ...parts,
    backend: coinBackend(),
    config: { ...config, "trainer.total_batches": 1 },
    onEvent: (event) => event.type === "warning" && said.push(event.message),
  }).train();
  const { downloadGb } = knownModels.find(({ name }) => name === smallest)!;
  expect(said[0]).toContain(`No model is named, so it is ${smallest}: `);
  expect(said[0]).toContain(`${downloadGb} GB`);
  expect(loadConfig({ overrides: ["model.name=m"] }).warnings).toEqual([]);
});

it("without a network, names what needs none", async () => {
  vi.stubEnv("HF_HUB_OFFLINE", "1");
  vi.stubEnv("HF_HOME", join(newFolder(), "cache"));
  const config = { "trainer.output_dir": newFolder() };
  await expect(new AgentTrainer({ ...parts, config }).train()).rejects.toMatchObject({
    code: "HUB_FAILED",
    message: expect.stringContaining(smallest) as string,
    hint: expect.stringMatching(/folder, a \.gguf file, or builtin:shop-tiny/u) as string,
  });
});
