/** Loops of the tinker-cookbook against our server: supervised and by rewards, begun and gone on with. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { modelPath, startServer, token, type LocalServer } from "../../tinker/local-server.ts";
import { runPython, runTinker } from "./python-tinker.ts";

/** Of the cookbook's models; its files are those of the built-in model. */
const modelName = "Qwen/Qwen3-8B";
const folder = mkdtempSync(join(tmpdir(), "tinker-cookbook-"));
let local: LocalServer;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  mkdirSync(join(folder, "Qwen"));
  symlinkSync(modelPath, join(folder, modelName));
  local = await startServer({ modelName, folder: join(folder, "server") });
  env = { TINKER_BASE_URL: await local.server.listen(), TINKER_API_KEY: token };
});
afterAll(async () => {
  await local?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type Line = Readonly<Record<string, number>>;

/** @param kind "sl", or the loss of the recipe by rewards. */
async function recipe(kind: string, steps: number, rate: number): Promise<readonly Line[]> {
  const args = [kind, join(folder, kind), String(steps), String(rate)];
  return (await runPython("cookbook.py", args, env, folder)) as readonly Line[];
}

it("sl_loop learns, and goes on from its checkpoint", async () => {
  const first = await recipe("sl", 5, 0.01);
  const nll = first.map((line) => line["train_mean_nll"]!);
  expect(nll.at(-1)).toBeLessThan(nll[0]! - 0.05);
  // As if it had been killed before its last checkpoint: the one before is of step 4.
  const file = join(folder, "sl", "checkpoints.jsonl");
  const kept = readFileSync(file, "utf8").trim().split("\n").slice(0, -1);
  writeFileSync(file, `${kept.join("\n")}\n`);
  const second = await recipe("sl", 7, 0.01);
  expect(second.map((line) => line["step"])).toEqual([0, 1, 2, 3, 4, 4, 5, 6]);
  // The same step on the same weights and moments.
  expect(second[5]!["train_mean_nll"]).toBeCloseTo(nll[4]!, 5);
});

it.each([
  ["importance_sampling", 0.005],
  // Its ratios are limited narrowly, but a step on fresh samples has the ratio 1.
  ["gspo", 0.005],
  // The recipe's default.
  ["stable_reinforce", 0.005],
])("rl_loop learns with %s", async (loss, rate) => {
  const lines = await recipe(loss, 8, rate);
  const rewards = lines.map((line) => line["reward/total"]!);
  expect(rewards).toHaveLength(8);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  process.stderr.write(`rewards ${rewards.map((reward) => reward.toFixed(2)).join(" ")}\n`);
  expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.05);
});

it.each(["math", "math-async"])("%s: math_rl runs to its end with its own loss", async (kind) => {
  const lines = (await recipe(kind, 4, 0.001)).filter((line) => "env/all/reward/total" in line);
  const column = (name: string): unknown[] => lines.map((line) => line[name]);
  const [norms, rewards] = [column("grad_norm"), column("env/all/reward/total")];
  process.stderr.write(`${kind}: ${JSON.stringify({ norms, rewards })}\n`);
  expect(column("step")).toEqual([0, 1, 2, 3]);
  expect(norms[0]).toBeGreaterThan(0);
  for (const norm of norms) expect(norm).toBeGreaterThanOrEqual(0);
  // What was sampled on policy is trained with the ratio 1.
  expect(Math.abs(lines[0]!["optim/kl_sample_train_v1"]!)).toBeLessThan(1e-4);
  if (kind === "math-async")
    for (const staleness of column("async/staleness_max")) expect(staleness).toBeLessThanOrEqual(1);
});

it("downloads checkpoints: through the cookbook, encrypted on the way, and the SDK's command line", async () => {
  const file = join(folder, "sl", "checkpoints.jsonl");
  const last = JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1)!) as {
    state_path: string;
  };
  const files = ["adapter_config.json", "adapter_model.safetensors"];
  const target = join(folder, "adapter");
  expect(await runPython("cookbook.py", ["download", last.state_path, target], env)).toEqual(files);
  const fromCli = join(folder, "cli");
  mkdirSync(fromCli);
  await runTinker(["checkpoint", "download", last.state_path, "--output", fromCli], env);
  const [name] = readdirSync(fromCli);
  expect(readdirSync(join(fromCli, name!)).toSorted()).toEqual(files);
  for (const one of files)
    expect(readFileSync(join(fromCli, name!, one))).toEqual(readFileSync(join(target, one)));
});
