import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, shop, temporaryFolder, writeConfig } from "./cli-process.ts";

it("a run's folder is a model: to train on from, and behind a gateway; agents see its name only", async () => {
  await using folder = await temporaryFolder();
  await writeFile(
    join(folder.path, "mine.mjs"),
    `import { agent as shop } from "${shop}/agent.js";
    export function agent(task, config) {
      if (config.model !== process.env.EXPECTED_MODEL) throw new Error("model " + config.model);
      return shop(task, config);
    }`,
  );
  const config = await writeConfig(folder.path, {
    agent: "mine.mjs",
    workflow: "{ retry_limit: 0 }",
    trainer: "{ total_batches: 1, experiment_name: first, seed: 5 }",
  });
  const train = async (model: string, ...overrides: string[]): Promise<void> => {
    process.env["EXPECTED_MODEL"] = model;
    const { code, stderr } = await cli(["train", config, ...overrides], { cwd: folder.path });
    expect(code, stderr).toBe(0);
  };
  await train("builtin:shop-tiny");
  await train("first", "model.name=runs/first", "trainer.experiment_name=second");
  const second = join(folder.path, "runs/second");
  await train(
    "second",
    `model.name=${second}/checkpoints/000001/weights`,
    "trainer.experiment_name=third",
  );

  let models: unknown;
  const args = ["gateway", "--builtin", "runs/second", "--store", "memory", "--port", "0"];
  const ended = await cli([...args, "--admin-token", "t"], {
    cwd: folder.path,
    onOutput(text, kill) {
      const url = /^http:\S+/m.exec(text)?.[0];
      if (url === undefined || models !== undefined) return;
      models = fetch(`${url}/sessions`, {
        method: "POST",
        headers: { authorization: "Bearer t" },
        body: "{}",
      }).then(async (response) => {
        models = await response.json();
        kill("SIGINT");
      });
    },
  });
  expect(ended.code, ended.stderr).toBe(0);
  expect(models).toMatchObject({ model: "second" });
});
