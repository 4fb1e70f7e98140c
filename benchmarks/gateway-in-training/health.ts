/**
 * `gateway-in-training`: how long the gateway takes to say that it is well while the engine in the same
 * process trains. The engine has a thread of its own; what is left is the fight for processors.
 */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { shopTiny, writeSmolModel } from "../engine/models.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { startChild } from "../harness/child.ts";
import { atMost, type Result, result } from "../harness/result.ts";
import { median, percentile } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import type { TrainingChildInput, TrainingChildOutput } from "./training-child.ts";

const childFile = new URL("training-child.ts", import.meta.url);
/** Between an answer and the next question. */
const pauseMs = 20;
const warmUps = 20;

/** Milliseconds of each of `count` questions, one after the other. */
async function request(url: string, count: number): Promise<readonly number[]> {
  const latencies: number[] = [];
  for (let i = -warmUps; i < count; i++) {
    const start = performance.now();
    const response = await fetch(`${url}/health`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`/health answered with ${response.status}.`);
    if (i >= 0) latencies.push(performance.now() - start);
    await delay(pauseMs);
  }
  return latencies;
}

export const gatewayInTraining: Benchmark = {
  name: "gateway-in-training",
  summary: "latency of /health while the engine in the same process trains",
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const model = await writeSmolModel(folder.path);
    // A backend wants a tokenizer; nothing is encoded here.
    for (const file of ["tokenizer.json", "tokenizer_config.json"])
      await copyFile(join(shopTiny.folder, file), join(model.folder, file));
    const size = quick ? ([2, 64] as const) : ([8, 256] as const);
    const count = quick ? 50 : 500;
    const results: Result[] = [];
    for (const isTraining of [false, true]) {
      const label = isTraining
        ? `a step of ${size[0]} x ${size[1]} tokens after the other`
        : "idle";
      log(`${label} ...`);
      const input: TrainingChildInput = { model, size, isTraining };
      const child = await startChild<TrainingChildOutput>(childFile, input);
      const rounds: (readonly number[])[] = [];
      for (let i = 0; i < repetitions; i++) rounds.push(await request(child.output.url, count));
      await child.stop();
      const of = (share: number): number => median(rounds.map((round) => percentile(round, share)));
      results.push(
        result(`${label}: p50`, "ms", of(0.5)),
        result(`${label}: p99`, "ms", of(0.99), isTraining && !quick ? atMost(20) : undefined),
        result(`${label}: longest`, "ms", Math.max(...rounds.flat())),
      );
    }
    return results;
  },
};
