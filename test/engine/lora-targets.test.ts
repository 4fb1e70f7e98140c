/** Adapters on some of the linear layers: what is trained, saved, loaded and merged. */
import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { LoraSpec } from "../../src/core/backend.ts";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { mergeAdapter, readLoraAdapter } from "../../src/engine/checkpoint/lora-adapter.ts";
import { openModelSource } from "../../src/engine/checkpoint/open-model-source.ts";
import { loadPolicyState, savePolicyState } from "../../src/engine/checkpoint/policy-state.ts";
import { writeTrained, type Policy } from "../../src/engine/decoder/policy.ts";
import { openPolicy } from "./open-policy.ts";
import { createAdamState } from "../../src/engine/optimizer/adamw.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { randomTokens, rowOf } from "./small-model.ts";
import { writeSmallModel } from "./write-small-model.ts";

const lora: LoraSpec = { rank: 3, alpha: 6, targets: ["q_proj", "v_proj"] };
const row = rowOf(randomTokens(3, 24), 2);

async function logprobsOf(policy: Policy): Promise<readonly number[]> {
  const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
  const [logprobs] = await trainer.forward([row]);
  return [...logprobs!.subarray(2)];
}

it("trains, saves, loads and merges only the layers it names", async () => {
  const folder = await mkdtemp(join(tmpdir(), "agent-trainer-targets-"));
  await writeSmallModel(folder);
  const policy = await openPolicy(folder, lora);
  const layers = policy.trained.map(
    ({ name }) => /\.(\w+_proj)\.lora_[AB]\.weight$/u.exec(name)?.[1],
  );
  // Two factors of two matrices in each of two layers.
  expect(layers.toSorted()).toEqual([...Array(4).fill("q_proj"), ...Array(4).fill("v_proj")]);

  const before = await logprobsOf(policy);
  const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
  for (let i = 0; i < 2; i++) {
    await trainer.forwardBackward([row], { ...defaultLoss, name: "cross_entropy" });
    await trainer.optimStep({ ...defaultOptim, learningRate: 1e-2 });
  }
  const after = await logprobsOf(policy);
  expect(Math.max(...after.map((l, i) => Math.abs(l - before[i]!)))).toBeGreaterThan(1e-2);

  const saved = await mkdtemp(join(folder, "adapter-"));
  await savePolicyState(policy, trainer, { name: folder, assets: new Map() }, saved);
  const config = JSON.parse(readFileSync(join(saved, "adapter_config.json"), "utf8")) as object;
  expect(config).toMatchObject({ r: 3, target_modules: ["q_proj", "v_proj"] });

  const again = await openPolicy(folder, lora);
  await loadPolicyState(again, { adam: createAdamState(again.trained) }, saved);
  await writeTrained(again, again.weights);
  expect(await logprobsOf(again)).toEqual(after);
  const all = await openPolicy(folder, { rank: 3, alpha: 6 });
  await expect(loadPolicyState(all, { adam: createAdamState(all.trained) }, saved)).rejects.toThrow(
    /does not fit this model: .*k_proj.* is missing/u,
  );

  const adapter = await readLoraAdapter(saved);
  expect(adapter.factors.size).toBe(4);
  const base = await openModelSource(folder);
  const merged = mergeAdapter(base, adapter);
  const names = [...base.tensors.keys()];
  const original = new Map<string, Float32Array>();
  for await (const [name, data] of base.read(names)) original.set(name, Float32Array.from(data));
  const whole = await openPolicy(folder);
  for await (const [name, data] of merged.read(names)) {
    whole.data.get(name)?.set(data);
    const isChanged = data.some((value, i) => value !== original.get(name)![i]);
    expect(isChanged, name).toBe(/[qv]_proj/u.test(name));
  }
  await writeTrained(whole, whole.weights);
  for (const [i, logprob] of (await logprobsOf(whole)).entries())
    expect(Math.abs(logprob - after[i]!)).toBeLessThan(1e-4);
});
