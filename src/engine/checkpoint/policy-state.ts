/**
 * Everything training has changed, as files that others can read: trained weights under Hugging Face
 * or PEFT names, and the optimizer's moments next to them. Saving and loading is bit-exact.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoraSpec } from "../../core/backend.ts";
import { CheckpointError } from "../../core/errors.ts";
import { writeSynced } from "../../util/files/atomic-write.ts";
import { isAdapted } from "../model/parameters.ts";
import type { Policy } from "../decoder/policy.ts";
import type { AdamState } from "../optimizer/adamw.ts";
import { setMoments } from "../optimizer/moments.ts";
import { jsonText, writeModelAssets, type ModelAssets } from "./model-assets.ts";
import { readQuantization, writeQuantization } from "./quantization-file.ts";
import {
  encodeSafetensors,
  readSafetensors,
  type NamedTensor,
  type StorableTensor,
} from "./safetensors.ts";

/** Safetensors inside; servers that load every `.safetensors` of a folder must not take it for weights. */
export const optimizerFile = "optimizer.state";

/** What training keeps next to the weights. */
export interface TrainingState {
  readonly adam: AdamState;
}

/** Where a policy came from: what its checkpoints need to be complete models. */
export interface ModelOrigin {
  /** Of the base model: a hub id or a path. */
  readonly name: string;
  readonly assets: ModelAssets;
}

/** Of a policy, what a checkpoint is made of and what it is restored into. */
export type StoredPolicy = Pick<Policy, "lora" | "quantization" | "base" | "trained" | "data">;

function weightsFile(policy: StoredPolicy): string {
  return policy.lora === null ? "model.safetensors" : "adapter_model.safetensors";
}

/** Writes into an existing folder; each file is on the disk before this resolves. */
export async function savePolicyState(
  policy: StoredPolicy,
  { adam }: TrainingState,
  origin: ModelOrigin | null,
  folder: string,
): Promise<void> {
  const weights = new Map<string, NamedTensor>();
  const moments = new Map<string, StorableTensor>();
  for (const { name, shape } of policy.trained) {
    weights.set(name, { shape, data: policy.data.get(name)! });
    moments.set(`m.${name}`, { shape, data: adam.firstMoment.get(name)! });
    moments.set(`v.${name}`, { shape, data: adam.secondMoment.get(name)! });
  }
  // A separate tensor, since header metadata holds strings only.
  moments.set("step", { shape: [1], data: Float32Array.of(adam.step) });
  await writeSynced(join(folder, weightsFile(policy)), encodeSafetensors(weights));
  await writeSynced(join(folder, optimizerFile), encodeSafetensors(moments));
  if (policy.lora !== null) {
    const config = adapterConfig(policy, policy.lora, origin?.name ?? null);
    await writeFile(join(folder, "adapter_config.json"), jsonText(config));
    await writeQuantization(folder, policy.quantization);
  } else if (origin !== null) {
    await writeModelAssets(origin.assets, folder);
  }
}

function adapterConfig(policy: StoredPolicy, lora: LoraSpec, baseModel: string | null): object {
  const layers = policy.base.filter(({ name }) => isAdapted(name, lora));
  const modules = layers.map(({ name }) => name.split(".").at(-2)!);
  return {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: baseModel,
    inference_mode: true,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    bias: "none",
    target_modules: [...new Set(modules)],
  };
}

/**
 * Fills `policy` and its training state from a folder; all stay unchanged when it does not match.
 * @throws CheckpointError
 */
export async function loadPolicyState(
  policy: StoredPolicy,
  state: TrainingState,
  folder: string,
): Promise<void> {
  (await readPolicyState(policy, state, folder))();
}

/** @returns what fills `policy` and `state` with what was read. @throws CheckpointError when it does not match */
export async function readPolicyState(
  policy: StoredPolicy,
  { adam }: TrainingState,
  folder: string,
): Promise<() => void> {
  await checkQuantization(policy, folder);
  const weights = await readTensors(join(folder, weightsFile(policy)));
  const moments = await readTensors(join(folder, optimizerFile));
  const need = (
    tensors: ReadonlyMap<string, NamedTensor>,
    name: string,
    shape: readonly number[],
  ): Float32Array => {
    const tensor = tensors.get(name);
    if (tensor === undefined || tensor.shape.join() !== shape.join()) {
      const found = tensor === undefined ? "is missing" : `has shape [${tensor.shape.join()}]`;
      throw new CheckpointError({
        message: `The checkpoint ${folder} does not fit this model: "${name}" ${found}, expected [${shape.join()}].`,
        hint: "Resume with the model and LoRA settings that the checkpoint was made with.",
        fields: { folder, name },
      });
    }
    return tensor.data;
  };
  const loaded = policy.trained.map(({ name, shape }) => ({
    name,
    weight: need(weights, name, shape),
    first: need(moments, `m.${name}`, shape),
    second: need(moments, `v.${name}`, shape),
  }));
  const [step] = need(moments, "step", [1]);
  return () => {
    for (const { name, weight, first, second } of loaded) {
      policy.data.get(name)!.set(weight);
      setMoments(adam.firstMoment.get(name)!, first);
      setMoments(adam.secondMoment.get(name)!, second);
    }
    adam.step = step!;
  };
}

/** An adapter corrects the base that it was trained on. */
async function checkQuantization({ quantization }: StoredPolicy, folder: string): Promise<void> {
  const found = await readQuantization(folder).catch((cause: unknown) => {
    throw new CheckpointError({
      message: `The checkpoint ${folder} cannot be read.`,
      hint: "Resume from an earlier checkpoint.",
      cause,
      fields: { folder },
    });
  });
  if (found === quantization) return;
  throw new CheckpointError({
    message: `The checkpoint ${folder} was trained on a base with model.quantization ${found}, but it is ${quantization} now.`,
    hint: `Resume with model.quantization=${found}.`,
    fields: { folder, expected: quantization, found },
  });
}

async function readTensors(file: string): Promise<Map<string, NamedTensor>> {
  return readSafetensors(file).catch((cause: unknown) => {
    throw new CheckpointError({
      message: `${file} cannot be read.`,
      hint: "Resume from an earlier checkpoint.",
      cause,
      fields: { file },
    });
  });
}
