/** Adapters to and from checkpoint folders, in the engine's format: PEFT names, moments next to them. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  loadPolicyState,
  optimizerFile,
  savePolicyState,
} from "../../engine/checkpoint/policy-state.ts";
import { readSafetensors } from "../../engine/checkpoint/safetensors.ts";
import { createAdamState } from "../../engine/optimizer/adamw.ts";
import { encryptToRecipients } from "./age.ts";
import {
  copyFactors,
  loraSpecOf,
  type Adapter,
  type AdapterSpec,
  type AdapterWeights,
} from "../model/adapter.ts";
import type { Checkpoint } from "./checkpoint-store.ts";
import { RequestError } from "../request-error.ts";

/** `baseModel` is what others find the base by. */
export async function saveAdapter(
  adapter: Adapter,
  baseModel: string,
  withOptimizer: boolean,
  folder: string,
): Promise<void> {
  // Every factor is written, those that are not trained included: a PEFT adapter needs them all.
  const policy = { ...adapter.policy, trained: adapter.policy.loraParameters };
  const adam = createAdamState(policy.trained);
  for (const { name } of adapter.policy.trained) {
    adam.firstMoment.set(name, adapter.adam.firstMoment.get(name)!);
    adam.secondMoment.set(name, adapter.adam.secondMoment.get(name)!);
  }
  adam.step = adapter.adam.step;
  await savePolicyState(policy, { adam }, { name: baseModel, assets: new Map() }, folder);
  if (!withOptimizer) await rm(join(folder, optimizerFile));
}

/** Each file becomes one that ends in `.age`. */
export async function encryptFiles(
  folder: string,
  recipients: readonly Uint8Array[],
): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    await writeFile(`${file}.age`, encryptToRecipients(await readFile(file), recipients));
    await rm(file);
  }
}

/** @throws RequestError 400 when the checkpoint does not fit the adapter. */
export async function loadAdapter(
  adapter: Adapter,
  checkpoint: Checkpoint,
  folder: string,
  withOptimizer: boolean,
): Promise<void> {
  checkShape(adapter, checkpoint.spec);
  if (checkpoint.kind !== "weights" && withOptimizer)
    throw new RequestError(400, "A checkpoint for samplers has no optimizer state.");
  if (!withOptimizer) return loadWeights(adapter, checkpoint.spec, folder);
  const policy = { ...adapter.policy, trained: adapter.policy.loraParameters };
  const adam = createAdamState(policy.trained);
  await loadPolicyState(policy, { adam }, folder);
  for (const { name } of adapter.policy.trained) {
    adapter.adam.firstMoment.get(name)!.set(adam.firstMoment.get(name)!);
    adapter.adam.secondMoment.get(name)!.set(adam.secondMoment.get(name)!);
  }
  adapter.adam.step = adam.step;
}

/**
 * The weights alone: the optimizer starts anew.
 * @throws RequestError 400 when they do not fit the adapter.
 */
async function loadWeights(adapter: Adapter, spec: AdapterSpec, folder: string): Promise<void> {
  checkShape(adapter, spec);
  const { factors } = await readWeights({ spec }, folder);
  copyFactors(factors, adapter.policy.data);
  adapter.forgetMoments();
}

function checkShape(adapter: Adapter, spec: AdapterSpec): void {
  const [saved, own] = [loraSpecOf(spec), loraSpecOf(adapter.spec)];
  for (const part of ["rank", "alpha"] as const)
    if (saved[part] !== own[part])
      throw new RequestError(
        400,
        `The checkpoint has ${part} ${saved[part]}, but the model has ${part} ${own[part]}.`,
      );
}

/** Weights of a checkpoint, to sample from. */
export async function readWeights(
  { spec }: Pick<Checkpoint, "spec">,
  folder: string,
): Promise<AdapterWeights> {
  const tensors = await readSafetensors(join(folder, "adapter_model.safetensors"));
  return {
    ...loraSpecOf(spec),
    factors: new Map([...tensors].map(([name, { data }]) => [name, data])),
  };
}
