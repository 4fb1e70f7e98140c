import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commit, StandInHub } from "../../../test/hub/stand-in-hub.ts";
import { rowOf } from "../../../test/engine/small-model.ts";
import { writeSmallModel } from "../../../test/engine/write-small-model.ts";
import { createLocalBackend } from "../../backends/local/index.ts";
import type { LoraSpec, SamplerTarget } from "../../core/backend.ts";
import { defaultLoss, defaultOptim } from "../../core/loss/loss.ts";
import { saveCheckpoint } from "../../runs/checkpoint.ts";
import { runCli } from "../program.ts";

let folder: string;
let small: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "model-cli-"));
  small = join(folder, "small");
  await writeSmallModel(small);
});
afterAll(() => rm(folder, { recursive: true }));

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["model", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

const greedy = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  maxTokens: 16,
  seed: 1,
  stopTokenIds: [],
};

/** The model's greedy completion and the log-probabilities of its tokens. */
async function answer(name: string): Promise<{ tokens: number[]; logprobs: number[] }> {
  await using backend = createLocalBackend({ threads: 1, precision: "f32" });
  const target = (await backend.start(context(name, null))) as SamplerTarget;
  const { tokens } = target.renderer.render([{ role: "user", content: "say hello in one" }]);
  const [sample] = await target.sampler.sample({ tokens, params: greedy });
  return { tokens: [...tokens, ...sample!.tokens], logprobs: [...sample!.logprobs] };
}

const context = (name: string, lora: LoraSpec | null) => ({
  seed: 1,
  model: { name, lora },
  signal: new AbortController().signal,
});

/** One step of training that changes the model; its weights are left in `into`. */
async function train(name: string, lora: LoraSpec | null, into: string): Promise<void> {
  await using backend = createLocalBackend({ threads: 1, precision: "f32" });
  await backend.start(context(name, lora));
  const row = rowOf(
    Int32Array.from({ length: 40 }, (_, i) => (i * 7) % 250),
    10,
  );
  for (let step = 0; step < 3; step++)
    await backend.updatePolicy(
      [row],
      { ...defaultLoss, name: "cross_entropy" },
      { ...defaultOptim, learningRate: 0.02 },
    );
  await mkdir(into, { recursive: true });
  await backend.saveState(into);
}

function expectSame(
  a: { tokens: number[]; logprobs: number[] },
  b: typeof a,
  tolerance: number,
): void {
  expect(a.tokens).toEqual(b.tokens);
  for (const [i, logprob] of b.logprobs.entries())
    expect(Math.abs(a.logprobs[i]! - logprob)).toBeLessThanOrEqual(tolerance);
}

describe("model export", () => {
  it("writes a GGUF file that samples like the folder", async () => {
    const file = join(folder, "small.gguf");
    const { code, out, err } = await run(
      "export",
      small,
      "--format",
      "gguf",
      "--dtype",
      "f32",
      "--into",
      file,
    );
    expect([code, out]).toEqual([0, `${file}\n`]);
    expect(err).toContain("100 % of");
    expectSame(await answer(file), await answer(small), 1e-6);
  });

  it("writes a folder from a GGUF file that samples like the file", async () => {
    const out = join(folder, "again");
    const { code } = await run(
      "export",
      join(folder, "small.gguf"),
      "--format",
      "hf",
      "--dtype",
      "f32",
      "--into",
      out,
      "--quiet",
    );
    expect(code).toBe(0);
    expect((await readdir(out)).toSorted()).toEqual([
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "tokenizer.json",
      "tokenizer_config.json",
    ]);
    expect(JSON.parse(readFileSync(join(out, "config.json"), "utf8"))).toMatchObject({
      dtype: "float32",
    });
    expectSame(await answer(out), await answer(small), 0);
  });

  it("refuses to overwrite, unknown formats and models that do not exist", async () => {
    const file = join(folder, "small.gguf");
    expect(await run("export", small, "--format", "gguf", "--into", file)).toMatchObject({
      code: 2,
      err: expect.stringContaining("refusing to overwrite") as string,
    });
    expect((await run("export", small, "--format", "onnx")).code).toBe(2);
    expect((await run("export", small)).err).toContain("--format");
    expect(await run("export", join(folder, "none"), "--format", "hf")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not a model folder") as string,
    });
  });
});

describe("training from a GGUF file", () => {
  it("with LoRA leaves an adapter that merges into what was trained", async () => {
    const base = join(folder, "small.gguf");
    const run1 = join(folder, "run");
    const state = {
      step: 3,
      cursor: { epoch: 0, index: 0 },
      weightVersion: 3,
      validatedStep: -1,
      configHash: "c",
      dataHash: "d",
    };
    await mkdir(join(run1, "checkpoints"), { recursive: true });
    await writeFile(join(run1, "config.resolved.yaml"), "model: {name: x}\n");
    await saveCheckpoint(join(run1, "checkpoints"), state as never, (weights) =>
      train(base, { rank: 4, alpha: 8 }, weights),
    );
    const adapter = join(run1, "checkpoints/000003/weights");
    expect(JSON.parse(readFileSync(join(adapter, "adapter_config.json"), "utf8"))).toMatchObject({
      base_model_name_or_path: base,
      r: 4,
    });
    const merged = join(folder, "merged");
    expect((await run("merge", adapter, "--into", merged, "--dtype", "f32")).code).toBe(0);
    const exported = join(folder, "run.gguf");
    expect(
      (await run("export", run1, "--format", "gguf", "--dtype", "f32", "--into", exported)).code,
    ).toBe(0);
    const trained = await answerOfRun(base, { rank: 4, alpha: 8 }, adapter);
    expectSame(await answer(merged), trained, 1e-4);
    expectSame(await answer(exported), trained, 1e-4);
    // The step did change it.
    expect((await answer(base)).logprobs).not.toEqual(trained.logprobs);
  });

  it("of every weight leaves a complete model", async () => {
    const out = join(folder, "full");
    await train(join(folder, "small.gguf"), null, out);
    expect(await readdir(out)).toContain("tokenizer.json");
    const trained = await answerOfRun(join(folder, "small.gguf"), null, out);
    expectSame(await answer(out), trained, 1e-6);
  });
});

async function answerOfRun(name: string, lora: LoraSpec | null, state: string) {
  await using backend = createLocalBackend({ threads: 1, precision: "f32" });
  const target = (await backend.start(context(name, lora))) as SamplerTarget;
  await backend.loadState(state, 1);
  const { tokens } = target.renderer.render([{ role: "user", content: "say hello in one" }]);
  const [sample] = await target.sampler.sample({ tokens, params: greedy });
  return { tokens: [...tokens, ...sample!.tokens], logprobs: [...sample!.logprobs] };
}

describe("model inspect", () => {
  it("reports what a model is and the memory that it needs", async () => {
    const { code, out } = await run("inspect", join(folder, "small.gguf"), "--json");
    expect(code).toBe(0);
    // 266 x 32 embeddings; per layer 2 x 32 norms, 2 x 32 x 32 + 2 x 16 x 32 attention, 3 x 48 x 32 feed-forward; 32.
    expect(JSON.parse(out)).toMatchObject({
      format: "gguf",
      architecture: "LlamaForCausalLM",
      parameters: 266 * 32 + 2 * (64 + 2 * 1024 + 2 * 512 + 3 * 1536) + 32,
      types: { F32: 20 },
      tokenizer: { kind: "BPE", tokens: 266 },
      renderer: "chatml",
      // 24,032 parameters: 96,128 bytes; 7 times as many and the budget of activations to train all of them.
      memory: { sampling: 1, full: 1 + 1536 },
      problems: [],
    });
    expect((await run("inspect", small)).out).toContain("The local backend can train it.");
  });

  it("says why one cannot be used", async () => {
    const other = join(folder, "other");
    await writeSmallModel(other);
    const config = join(other, "config.json");
    await writeFile(
      config,
      readFileSync(config, "utf8").replace("LlamaForCausalLM", "MambaForCausalLM"),
    );
    const { code, out } = await run("inspect", other);
    expect(code).toBe(1);
    expect(out).toMatch(
      /problem: .*architecture "MambaForCausalLM" is not supported; supported: Llama/,
    );
  });
});

describe("models on a hub", () => {
  it("are pulled, and found by their name", async () => {
    await using hub = new StandInHub();
    for (const name of await readdir(small)) hub.files.set(name, readFileSync(join(small, name)));
    hub.large.add("model.safetensors");
    await hub.listen();
    vi.stubEnv("HF_ENDPOINT", hub.url);
    vi.stubEnv("HF_HOME", join(folder, "hf"));
    try {
      const { code, out, err } = await run("pull", "owner/model");
      const path = join(folder, "hf/hub/models--owner--model/snapshots", commit);
      expect([code, out]).toEqual([0, `${path}\n`]);
      expect(err).toContain(`model at ${commit}`);
      hub.requests.length = 0;
      expectSame(await answer("owner/model"), await answer(small), 0);
      expect(hub.requests).toEqual([]);
      await rename(join(folder, "hf"), join(folder, "hf-old"));
      expectSame(await answer("owner/model@main"), await answer(small), 0);
      expect(existsSync(path)).toBe(true);
      expect(await run("pull", "owner/none")).toMatchObject({ code: 1 });
      expect((await run("pull", "small")).code).toBe(2);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
