/** An adapter that we train, in Python's PEFT; and its merge, in transformers. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import { runCli } from "../../../src/cli/program.ts";
import { defaultLoss, defaultOptim } from "../../../src/core/loss/loss.ts";
import { rowOf } from "../../engine/small-model.ts";
import { writeSmallModel } from "../../engine/write-small-model.ts";
import { pythonEnvironment } from "../python-environment.ts";

const recipe = {
  name: "peft",
  packages: ["peft==0.21.2", "transformers==5.23.0", "torch==2.15.0"],
};

interface Answers {
  readonly base: readonly number[];
  readonly adapter: readonly number[];
  readonly merged: readonly number[];
}

it.each([
  { rank: 4, alpha: 8 },
  { rank: 1, alpha: 32 },
])("computes what we compute, with LoRA %j", async (lora) => {
  const folder = await mkdtemp(join(tmpdir(), "peft-"));
  const [base, adapter, merged] = ["base", "adapter", "merged"].map((name) => join(folder, name));
  await writeSmallModel(base!);
  await mkdir(adapter!);
  const tokens = Int32Array.from({ length: 60 }, (_, i) => (i * 7) % 250);
  const row = rowOf(tokens, 1);
  await using backend = createLocalBackend({ threads: 1, precision: "f32" });
  await backend.start({
    seed: 1,
    model: { name: base!, lora },
    signal: new AbortController().signal,
  });
  for (let step = 0; step < 3; step++)
    await backend.updatePolicy(
      [row],
      { ...defaultLoss, name: "cross_entropy" },
      { ...defaultOptim, learningRate: 0.02 },
    );
  await backend.saveState(adapter!);
  const [ours] = await backend.forward([row]);
  const streams = { stdout: { write: () => undefined }, stderr: process.stderr };
  const args = ["merge", adapter!, "--into", merged!, "--dtype", "f32", "--quiet"];
  expect(await runCli(["model", ...args], streams)).toBe(0);

  const script = join(import.meta.dirname, "ask.py");
  const { status, stdout } = spawnSync(
    pythonEnvironment(recipe),
    [script, base!, adapter!, merged!],
    {
      input: JSON.stringify([...tokens]),
      stdio: ["pipe", "pipe", 2],
      encoding: "utf8",
    },
  );
  expect(status).toBe(0);
  const theirs = JSON.parse(stdout) as Answers;
  for (const [i, logprob] of theirs.adapter.entries()) {
    expect(Math.abs(ours![i + 1]! - logprob)).toBeLessThan(1e-4);
    expect(Math.abs(theirs.merged[i]! - logprob)).toBeLessThan(1e-4);
  }
  // Training did change the model.
  const moved = theirs.adapter.map((logprob, i) => Math.abs(logprob - theirs.base[i]!));
  expect(Math.max(...moved)).toBeGreaterThan(0.1);
  await rm(folder, { recursive: true });
});
