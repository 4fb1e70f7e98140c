/** The official SDK of Fireworks, unmodified, against our server. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  account,
  baseModel,
  key,
  startFireworks,
  type LocalFireworks,
} from "../../tinker/fireworks/local-fireworks.ts";
import { trainTasks } from "../../../examples/shop/tasks.ts";
import { modelPath } from "../../tinker/local-server.ts";
import { runPython } from "./python-fireworks.ts";

let local: LocalFireworks;
let url: string;
beforeAll(async () => {
  local = await startFireworks();
  url = await local.server.listen();
});
afterAll(() => local?.[Symbol.asyncDispose]());

type Samples = readonly (readonly [tokens: number[], logprobs: number[]])[];

interface Lifecycle {
  readonly run: string;
  readonly session: string;
  readonly samples: Samples;
  readonly frozen: Samples;
  readonly standalone: Samples;
  readonly prompt_logprobs: readonly (number | null)[];
  readonly forward: readonly number[];
  readonly steps: readonly (readonly [Record<string, number>, Record<string, number>])[];
  readonly state: string;
  readonly loaded: string;
  readonly names: readonly string[];
  readonly checkpoints: readonly (readonly [name: string, promotable: boolean])[];
  readonly promoted: Readonly<Record<string, unknown>>;
  readonly adapter: string;
  readonly refused: string;
}

it("goes through a session of the SDK, from the first call to the last", async () => {
  const report = (await runPython("lifecycle.py", [url, key, baseModel], {})) as Lifecycle;
  const run = /^accounts\/local\/trainingRuns\/(run-[0-9a-f]{32})$/u.exec(report.run)![1]!;
  expect(report.session).toMatch(/^ts-/u);
  const [[tokens, logprobs]] = report.samples as [[number[], number[]]];
  expect(logprobs).toHaveLength(tokens.length);
  // One model behind all three: sampling, scoring of prompts, forward passes.
  const scores = [...report.prompt_logprobs.slice(1), ...logprobs] as number[];
  expect(scores).toHaveLength(report.forward.length);
  for (const [i, value] of report.forward.entries()) expect(scores[i]).toBeCloseTo(value, 3);
  for (const [metrics, step] of report.steps) {
    expect(metrics["loss:sum"]).toBeTypeOf("number");
    expect(step["grad_norm"]).toBeGreaterThan(0);
  }
  expect(report.frozen).toEqual(report.samples);
  expect(report.standalone).toEqual(report.samples);
  expect([report.state, report.loaded]).toEqual(Array(2).fill(`${account}/${run}/state`));
  expect(report.names).toEqual(["state"]);
  expect(report.checkpoints.map(([, promotable]) => promotable)).toEqual([true, false]);
  expect(report.checkpoints.map(([name]) => name.split(".")[0])).toEqual([run, run]);
  expect(report.promoted).toMatchObject({ state: "READY", kind: "HF_PEFT_ADDON" });
  expect(report.adapter).toBe("accounts/local/models/learned");
  expect(report.refused).toContain('There is no loss "dapo"');
});

it("learns from rewards, driven from Python", async () => {
  const rewards = (await runPython("learn.py", [url, key, baseModel, "12"], {})) as number[];
  expect(rewards).toHaveLength(12);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  process.stderr.write(`rewards ${rewards.map((reward) => reward.toFixed(2)).join(" ")}\n`);
  expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.1);
});

it("learns the shop task, driven from Python", { timeout: 1_200_000 }, async () => {
  const file = join(mkdtempSync(join(tmpdir(), "shop-")), "tasks.json");
  const tasks = trainTasks.map(({ instruction, metadata }) => ({ instruction, ...metadata }));
  writeFileSync(file, JSON.stringify(tasks));
  const tokenizer = join(modelPath, "tokenizer.json");
  const args = [url, key, baseModel, "12", tokenizer, file];
  const rewards = (await runPython("shop.py", args, {})) as number[];
  expect(rewards).toHaveLength(12);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  process.stderr.write(`rewards ${rewards.map((reward) => reward.toFixed(2)).join(" ")}\n`);
  expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.2);
});
