/** Projects that `init` writes, as their users train and evaluate them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { linkPackages } from "../link-packages.ts";
import { cli, temporaryFolder } from "./cli-process.ts";

// Mastra needs Node 22 and 150 packages: test/integration/init/.
const frameworks = ["openai", "ai-sdk", "langgraph", "openai-agents", "anthropic", "fetch"];

/** What a terminal has, not what this test runner adds. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST|NODE_ENV)/u.test(name)),
);

it("writes projects whose evaluation passes for every framework, before and after training", async () => {
  await using folder = await temporaryFolder();
  linkPackages(folder.path);
  for (const framework of frameworks) {
    const args = ["init", framework, "--framework", framework, "--json"];
    const { code, stderr } = await cli(args, { cwd: folder.path });
    expect(code, stderr).toBe(0);
  }
  const project = join(folder.path, "openai");
  const trained = await cli(["train", "train.yaml", "trainer.total_batches=2"], { cwd: project });
  expect(trained.code, trained.stderr).toBe(0);

  // Neither a newer run without a checkpoint nor an older one with a damaged one is the newest model.
  const [run = ""] = readdirSync(join(project, "runs"));
  for (const name of ["openai", "fetch"])
    mkdirSync(join(folder.path, name, "runs/without-checkpoint/checkpoints"), { recursive: true });
  const old = join(project, "runs/old/checkpoints/000009");
  mkdirSync(old, { recursive: true });
  utimesSync(old, 1, 1);
  expect(existsSync(join(project, "runs", run, "checkpoints/000002"))).toBe(true);

  const vitest = join(folder.path, "node_modules/vitest/vitest.mjs");
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [vitest, "run", "--reporter=json"],
    {
      cwd: folder.path,
      // Two steps are not many.
      env: { ...environment, MIN_REWARD: "0.1", NO_COLOR: "1" },
      encoding: "utf8",
    },
  );
  expect(status, stdout + stderr).toBe(0);
  // Three tests each; the one of the trained model is skipped where no run exists.
  expect(JSON.parse(stdout.slice(stdout.indexOf("{")))).toMatchObject({
    numPassedTests: 2 * frameworks.length + 1,
    numPendingTests: frameworks.length - 1,
  });
  // An evaluation leaves nothing behind in the project.
  expect(existsSync(join(folder.path, "ai-sdk", "runs"))).toBe(false);
});
