/** `local.provider=webgpu` computes what the processor computes, from the command line on. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { root } from "../root.ts";
import { withAdapter } from "./swiftshader.ts";

const isHere = process.platform === "linux" && process.arch === "x64";
const folder = mkdtempSync(join(tmpdir(), "webgpu-"));
afterAll(() => rmSync(folder, { recursive: true }));

function cli(...args: readonly string[]): string {
  const source = ["--import", "tsx", "--conditions=agent-trainer-source"];
  const main = join(root, "src/cli/main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [...source, main, ...args], {
    cwd: root,
    env: withAdapter(),
    encoding: "utf8",
    timeout: 240_000,
  });
  if (status !== 0) throw new Error(`agent-trainer ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

const config = join(folder, "shop.yaml");
const shop = join(root, "examples/shop");
writeFileSync(
  config,
  `backend: local
model: { name: "builtin:shop-tiny" }
agent: ${shop}/agent.ts#agent
evaluator: ${shop}/evaluator.ts#evaluator
dataset: { train: "${shop}/tasks.ts#trainTasks" }
data: { train_batch_size: 4 }
rollout: { n: 4, train: { max_tokens: 12 } }
trainer: { total_batches: 1 }
`,
);

/** Metrics of one step. */
function trainOn(provider: string, ...overrides: readonly string[]): Record<string, number> {
  const output = join(folder, provider + overrides.join());
  cli("train", config, `local.provider=${provider}`, `trainer.output_dir=${output}`, ...overrides);
  const files = readdirSync(output, { recursive: true, encoding: "utf8" });
  const name = files.find((path) => path.endsWith("metrics.jsonl"));
  const [line = ""] = readFileSync(join(output, name!), "utf8").split("\n");
  return JSON.parse(line) as Record<string, number>;
}

it.runIf(isHere)("is found to work by the doctor", () => {
  const report = JSON.parse(cli("doctor", "--json")) as {
    providers: { name: string; result: object }[];
  };
  const found = report.providers.find(({ name }) => name === "webgpu");
  expect(found?.result).toMatchObject({ works: true });
});

it.runIf(isHere).each([
  ["every weight", []],
  ["an adapter", ["model.lora_rank=4"]],
])("rolls out and trains %s as the processor does", (_, overrides) => {
  const [expected, actual] = [trainOn("cpu", ...overrides), trainOn("webgpu", ...overrides)];
  expect(actual["reward/mean"]).toBe(expected["reward/mean"]);
  expect(actual["train/loss"]).toBeCloseTo(expected["train/loss"]!, 4);
  expect(expected["train/grad_norm"]).toBeGreaterThan(0.01);
  expect(actual["train/grad_norm"]! / expected["train/grad_norm"]!).toBeCloseTo(1, 3);
  expect(actual["train/logprob_abs_diff_mean"]).toBeLessThan(1e-4);
});

it.runIf(isHere)("samples from 8-bit weights, and says how far from training that is", () => {
  const metrics = trainOn("webgpu", "model.lora_rank=4", "local.sampling_precision=int8");
  expect(metrics["train/logprob_abs_diff_mean"]).toBeGreaterThan(1e-4);
  expect(metrics["train/logprob_abs_diff_mean"]).toBeLessThan(0.02);
});
