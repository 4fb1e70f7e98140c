/** Projects that `init` writes, trained from sources on the built-in model. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { AgentTrainer, loadConfig } from "../../src/index.ts";
import { frameworkNames } from "../../src/launch/init/frameworks.ts";
import { initProject } from "../../src/launch/init/init-project.ts";
import { root } from "../docs/pages.ts";

// Inside of the repository, where the packages of the frameworks are installed.
mkdirSync(join(root, ".cache"), { recursive: true });
const parent = mkdtempSync(join(root, ".cache", "init-"));
afterAll(() => rmSync(parent, { recursive: true }));

// Mastra needs Node 22 and 150 packages: test/integration/init/.
const installed = frameworkNames.filter((name) => name !== "mastra");
const chosen = [
  "reward/mean",
  "episode/turns",
  "tokens/sampled",
  "rows/trained_tokens",
  "rows/breaks/branched",
];
let first: readonly unknown[] | undefined;

/**
 * The model gets the same prompts from each of them, over three protocols, so that the same seed gives
 * the same rollouts.
 */
it.each(installed)("%s trains, with the numbers of the others", async (framework) => {
  const folder = join(parent, framework);
  initProject({ folder, framework });
  const { config } = loadConfig({
    file: join(folder, "train.yaml"),
    overrides: [
      ...["trainer.total_batches=2", "data.train_batch_size=4", "rollout.n=4", "dataset.val=null"],
      ...["trainer.test_freq=0", "trainer.keep_best=false"],
      ...[`trainer.output_dir=${folder}/runs`, "rollout.n_val=1", "workflow.retry_limit=0"],
    ],
  });
  const steps: Readonly<Record<string, number>>[] = [];
  for await (const event of new AgentTrainer({ config }).events()) {
    if (event.type === "step-end") steps.push(event.metrics);
  }
  const numbers = steps.map((metrics) => chosen.map((name) => metrics[name]));
  expect(numbers).toHaveLength(2);
  expect(numbers.flat()).not.toContain(undefined);
  expect(Number(steps[1]?.["reward/mean"])).toBeGreaterThan(0);
  first ??= numbers;
  expect(numbers).toEqual(first);
});
