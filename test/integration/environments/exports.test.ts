/** What `agent-trainer export` writes of a real run validates with the models of the formats' owners. */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { shop } from "../../../examples/environments/shop.ts";
import { environmentsPython, harborPython } from "./python.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "exports-"));
  const trainer = new AgentTrainer({
    env: shop,
    config: {
      model: { name: "builtin:shop-tiny" },
      data: { trainBatchSize: 4 },
      rollout: { n: 4 },
      environment: { systemPrompt: "You are a shop assistant.", maxTurns: 2 },
      trainer: { totalBatches: 1, outputDir: folder, experimentName: "shop" },
    },
  });
  await trainer.train();
}, 300_000);

it.each([
  ["atif", harborPython],
  ["training-trace", environmentsPython],
])("%s, and nothing is lost on the way", { timeout: 900_000 }, async (format, python) => {
  const output = join(folder, `${format}.jsonl`);
  const quiet = { stdout: { write: () => true }, stderr: { write: () => true } } as never;
  const run = join(folder, "shop");
  expect(await runCli(["export", run, "--format", format, "--output", output], quiet)).toBe(0);
  const script = join(import.meta.dirname, "validate_exports.py");
  const { stdout, stderr } = spawnSync(python(), [script, format, output], { encoding: "utf8" });
  expect(stdout, stderr).toBe("16\n");
});
