/** The ATIF documents that `agent-trainer export` writes of a real run validate with Harbor's own models. */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { shop } from "../../../examples/environments/shop.ts";
import { harborPython } from "./python.ts";

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

it("ATIF, and nothing is lost on the way", { timeout: 900_000 }, async () => {
  const output = join(folder, "atif.jsonl");
  const quiet = { stdout: { write: () => true }, stderr: { write: () => true } } as never;
  const run = join(folder, "shop");
  expect(await runCli(["export", run, "--format", "atif", "--output", output], quiet)).toBe(0);
  const script = join(import.meta.dirname, "validate_exports.py");
  const { stdout, stderr } = spawnSync(harborPython(), [script, output], { encoding: "utf8" });
  expect(stdout, stderr).toBe("16\n");
});
