import { renameSync, rmSync } from "node:fs";
import { cp, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { RunContext, SamplerTarget } from "../../core/backend.ts";
import { defaultLoss, defaultOptim } from "../../core/loss/loss.ts";
import type { Sample } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { rowOf } from "../../../test/engine/small-model.ts";
import { Device } from "../../engine/tensor/device.ts";
import { createLocalBackend } from "./index.ts";

const run = (name: string): RunContext => ({
  seed: 1,
  model: { name, lora: null },
  signal: new AbortController().signal,
});
const params = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  maxTokens: 24,
  stopTokenIds: [],
  seed: 4,
};

/** What was drawn, with the advantage 1. */
const sampled = (prompt: Int32Array, { tokens, logprobs }: Sample): TrainingRow =>
  rowOf(Int32Array.from([...prompt, ...tokens]), prompt.length, { logprobs });

describe("a quantized base", () => {
  const quantized: RunContext = {
    ...run("builtin:shop-tiny"),
    model: { name: "builtin:shop-tiny", lora: { rank: 4, alpha: 8 }, quantization: "int8" },
  };

  it("tells its distance to the model as published, and reports it", async () => {
    const told: string[] = [];
    await using backend = createLocalBackend({ threads: 1, onWarning: (text) => told.push(text) });
    await backend.start(quantized);
    expect(told).toEqual([expect.stringContaining("over 512 tokens") as string]);
    const metrics = await backend.metrics();
    expect(metrics["engine/quantization_kl"]).toBeGreaterThan(0);
    expect(metrics["engine/quantization_kl"]).toBeLessThan(0.01);
    expect(metrics["engine/quantization_ess_fraction"]).toBeGreaterThan(0.98);
    expect(metrics["engine/quantization_ess_fraction"]).toBeLessThan(1);
  });
});

describe("a run as the model", () => {
  it("is opened at its next checkpoint where the one that was found is deleted on the way", async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-trainer-run-"));
    await writeFile(join(folder, "config.resolved.yaml"), "");
    const root = join(folder, "checkpoints");
    const model = fileURLToPath(new URL("../../../models/shop-tiny/", import.meta.url));
    for (const name of ["000001", ".tmp-000002"]) {
      await cp(model, join(root, name, "weights"), { recursive: true });
      await writeFile(join(root, name, "state.json"), "{}");
    }
    await using backend = createLocalBackend({ threads: 1 });
    let isDeleted = false;
    const { renderer } = (await backend.start({
      ...run(folder),
      model: {
        name: folder,
        // Read between the tokenizer and the weights, as the run saves and prunes.
        get lora() {
          if (!isDeleted) {
            renameSync(join(root, ".tmp-000002"), join(root, "000002"));
            rmSync(join(root, "000001"), { recursive: true });
          }
          isDeleted = true;
          return null;
        },
      },
    })) as SamplerTarget;
    expect(isDeleted).toBe(true);
    expect(renderer.decode(Int32Array.from([65]))).not.toBe("");
    expect(await readdir(root)).toEqual(["000002"]);
    await backend.publishWeights();
  });

  it("says so where nothing is left", async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-trainer-run-"));
    await writeFile(join(folder, "config.resolved.yaml"), "");
    await using backend = createLocalBackend({ threads: 1 });
    await expect(backend.start(run(folder))).rejects.toThrow("has no checkpoint yet");
  });
});

describe("the local backend", () => {
  it("samples, streams, trains, publishes and restores, through its thread", async () => {
    await using backend = createLocalBackend({ threads: 1 });
    const { sampler, renderer } = (await backend.start(run("builtin:shop-tiny"))) as SamplerTarget;
    const { tokens } = renderer.render([{ role: "user", content: "How much do 3 lamps cost?" }]);
    const streamed: number[] = [];
    const [sample] = await sampler.sample({
      tokens,
      params,
      onChunk: (chunk) => streamed.push(...chunk.tokens),
    });
    expect(streamed).toEqual([...sample!.tokens]);
    expect(sample!.weightVersion).toBe(0);

    const row = sampled(tokens, sample!);
    const { samplingLogprobs } = row;
    const [before] = await backend.forward([row]);
    for (let i = tokens.length; i < row.tokens.length; i++)
      expect(before![i]).toBe(samplingLogprobs[i]!);

    const folder = await mkdtemp(join(tmpdir(), "local-backend-"));
    await backend.saveState(folder);
    const metrics = await backend.updatePolicy([row], defaultLoss, {
      ...defaultOptim,
      learningRate: 1e-5,
    });
    expect(metrics).toMatchObject({ tokens: 24, ratio_mean: 1 });
    expect(await backend.publishWeights()).toBe(1);
    const [after] = await backend.forward([row]);
    // Advantage 1 everywhere: what was sampled must have become likelier.
    const sum = (values: Float32Array): number => values.reduce((a, b) => a + b, 0);
    expect(sum(after!)).toBeGreaterThan(sum(before!));
    await backend.loadState(folder, 7);
    expect((await backend.forward([row]))[0]).toEqual(before);
    const [again] = await sampler.sample({ tokens, params });
    expect([...again!.tokens]).toEqual([...sample!.tokens]);
    expect(again!.weightVersion).toBe(7);
    expect((await backend.metrics())["engine/sampled_tokens"]).toBe(48);
    await rm(folder, { recursive: true });
  });

  it.each(["f32", "bf16"] as const)(
    "trains the policy that it sampled at temperature 0.7: ratios are 1, in %s",
    async (precision) => {
      const told: string[] = [];
      const onWarning = (text: string): number => told.push(text);
      await using backend = createLocalBackend({ threads: 1, precision, onWarning });
      const { sampler, renderer } = (await backend.start(
        run("builtin:shop-tiny"),
      )) as SamplerTarget;
      const { tokens } = renderer.render([{ role: "user", content: "How much do 3 lamps cost?" }]);
      const temperature = 0.7;
      const samples = await sampler.sample({ tokens, params: { ...params, temperature }, n: 4 });
      const rows = samples.map((sample) => ({
        ...sampled(tokens, { ...sample, logprobs: sample.temperedLogprobs! }),
        temperature,
      }));
      const now = await backend.forward(rows);
      for (const [r, row] of rows.entries())
        for (let i = tokens.length; i < row.tokens.length; i++)
          expect(now[r]![i]).toBe(row.samplingLogprobs[i]);
      const metrics = await backend.updatePolicy(rows, defaultLoss, defaultOptim);
      expect(metrics).toMatchObject({ logprob_abs_diff_mean: 0, ratio_max: 1, ratio_min: 1 });
      const isEmulated = precision === "bf16" && !new Device({ threads: 1 }).hasBfloat16;
      expect(told.filter((text) => text.includes("local.precision"))).toHaveLength(
        isEmulated ? 1 : 0,
      );
    },
  );

  it("goes on to the bit with moments in bfloat16, in half of the space", async () => {
    const sizes: number[] = [];
    for (const momentPrecision of ["float32", "bfloat16"] as const) {
      await using backend = createLocalBackend({ threads: 1, momentPrecision });
      const { sampler } = (await backend.start(run("builtin:shop-tiny"))) as SamplerTarget;
      const prompt = Int32Array.of(5, 6, 7);
      const [sample] = await sampler.sample({ tokens: prompt, params });
      const rows = [sampled(prompt, sample!)];
      const update = () => backend.updatePolicy(rows, defaultLoss, defaultOptim);
      await update();
      const folder = await mkdtemp(join(tmpdir(), "local-backend-"));
      await backend.saveState(folder);
      sizes.push((await stat(join(folder, "optimizer.state"))).size);
      await update();
      const undisturbed = await backend.forward(rows);
      await backend.loadState(folder, 1);
      await update();
      expect(await backend.forward(rows)).toEqual(undisturbed);
      await rm(folder, { recursive: true });
    }
    const [exact, halved] = sizes as [number, number];
    expect(halved).toBeLessThan(0.52 * exact);
  });

  it("cancels a request within a step and refuses a prompt without room", async () => {
    await using backend = createLocalBackend({ threads: 1 });
    const { sampler } = (await backend.start(run("builtin:shop-tiny"))) as SamplerTarget;
    const controller = new AbortController();
    const [sample] = await sampler.sample({
      tokens: Int32Array.of(1, 2, 3),
      params: { ...params, maxTokens: 400 },
      signal: controller.signal,
      onChunk: () => controller.abort(),
    });
    expect(sample!.stopReason).toBe("aborted");
    expect(sample!.tokens.length).toBeLessThan(400);
    const long = new Int32Array(sampler.contextLength);
    await expect(sampler.sample({ tokens: long, params })).rejects.toMatchObject({
      code: "CONTEXT_OVERFLOW",
    });
  });

  it("brings errors of its thread over with their code", async () => {
    await using backend = createLocalBackend();
    await backend.start(run("builtin:shop-tiny"));
    await expect(backend.loadState(join(tmpdir(), "no-such-folder"), 1)).rejects.toMatchObject({
      name: "CheckpointError",
      code: "CHECKPOINT_INVALID",
    });
  });

  it.each([
    ["builtin:none", /builtin:shop-tiny|no built-in model/],
    ["./no/such/folder", /not a model folder/],
    ["./no/such/file.gguf", /is not a file/],
    ["test/fixtures/adapters/patterns", /is a LoRA adapter, not a whole model/],
  ])("refuses the model %s", async (name, message) => {
    await using backend = createLocalBackend();
    await expect(backend.start(run(name))).rejects.toThrow(message);
  });

  it("says so when it is used before it was started", async () => {
    const backend = createLocalBackend();
    expect(() => backend.publishWeights()).toThrow("not been started");
    await backend[Symbol.asyncDispose]();
  });
});
