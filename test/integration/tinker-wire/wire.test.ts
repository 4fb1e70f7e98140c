/** One suite for every server of the Tinker API: what our client relies on. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTinkerBackend } from "../../../src/backends/tinker/index.ts";
import type { SamplerTarget } from "../../../src/core/backend.ts";
import { defaultLoss, defaultOptim, type LossSpec } from "../../../src/core/loss/loss.ts";
import { defaultSampling } from "../../../src/core/policy.ts";
import { rowOf } from "../../engine/small-model.ts";
import { modelPath } from "../../tinker/local-server.ts";
import { wireServers, type WireServer } from "./wire-servers.ts";

const { signal } = new AbortController();
const loss: LossSpec = { ...defaultLoss, name: "importance_sampling" };
const tokens = Int32Array.from({ length: 24 }, (_, i) => 30 + i);

describe.each(wireServers)("$name", ({ start, isLive }) => {
  let server: WireServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const open = (snapshots: "probe" | "live") =>
    createTinkerBackend({
      baseUrl: server.url,
      apiKey: server.key,
      contextLength: 512,
      tokenizer: modelPath,
      snapshots,
    });
  const context = () => ({
    seed: 1,
    model: { name: server.baseModel, lora: { rank: 8, alpha: 32 } },
    signal,
  });

  it("trains, samples and syncs weights through the backend", async () => {
    await using backend = open(isLive ? "live" : "probe");
    const { sampler } = (await backend.start(context())) as SamplerTarget;
    const params = { ...defaultSampling, maxTokens: 4, stopTokenIds: [], seed: 3 };
    const [sample] = await sampler.sample({ tokens, params });
    const row = rowOf(Int32Array.of(...tokens, ...sample!.tokens), tokens.length, {
      logprobs: sample!.logprobs,
    });
    const [before] = await backend.forward([row], "current");
    // Sampling and training are of one policy: ratios are 1 on fresh samples.
    for (const [i, l] of sample!.logprobs.entries())
      expect(Math.abs(before![tokens.length + i]! - l)).toBeLessThan(0.05);
    // Small, so that a step goes where the gradient points.
    await backend.updatePolicy([row], loss, { ...defaultOptim, learningRate: 1e-3 });
    expect(await backend.publishWeights()).toBe(1);
    const [after] = await backend.forward([row], "current");
    const sum = (of: Float32Array): number => of.reduce((total, value) => total + value, 0);
    // The advantage is 1: what was sampled is likelier now.
    expect(sum(after!)).toBeGreaterThan(sum(before!));
  });

  it.runIf(isLive)("is refused where its snapshots are to be frozen", async () => {
    await using backend = open("probe");
    await backend.start(context());
    const optim = { ...defaultOptim, learningRate: 0.01 };
    await backend.updatePolicy([rowOf(tokens, 1)], loss, optim);
    const published = backend.publishWeights();
    await expect(published).rejects.toMatchObject({ name: "TinkerLiveSnapshotError" });
  });
});
