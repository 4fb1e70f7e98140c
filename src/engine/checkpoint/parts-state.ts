/**
 * The state of a policy and its further adapters in one folder: the policy's own adapter in the folder itself,
 * each other one in a folder in it, as PEFT does.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultAdapter } from "../../core/adapter-names.ts";
import { CheckpointError } from "../../core/errors.ts";
import type { Policy } from "../decoder/policy.ts";
import type { PolicyTrainer } from "../training/trainer.ts";
import { readPolicyState, savePolicyState, type ModelOrigin } from "./policy-state.ts";
import { writeSynced } from "../../util/files/atomic-write.ts";
import { setMoments } from "../optimizer/moments.ts";
import type { Device } from "../tensor/device.ts";
import { ValueHead } from "../training/value-head.ts";
import { encodeSafetensors, readSafetensors, type StorableTensor } from "./safetensors.ts";

/** Safetensors inside, as with `optimizerFile`. */
const criticFile = "critic.state";

/** Writes into an existing folder; the file is on the disk before this resolves. */
async function saveCritic({ parameters, data, adam }: ValueHead, folder: string): Promise<void> {
  const tensors = new Map<string, StorableTensor>([
    ["step", { shape: [1], data: Float32Array.of(adam.step) }],
  ]);
  for (const { name, shape } of parameters) {
    tensors.set(name, { shape, data: data.get(name)! });
    tensors.set(`m.${name}`, { shape, data: adam.firstMoment.get(name)! });
    tensors.set(`v.${name}`, { shape, data: adam.secondMoment.get(name)! });
  }
  await writeSynced(join(folder, criticFile), encodeSafetensors(tensors));
}

/** The critic of a checkpoint; null where it has none. @throws CheckpointError */
async function readCritic(
  folder: string,
  device: Device,
  hiddenSize: number,
): Promise<ValueHead | null> {
  const file = join(folder, criticFile);
  if (!existsSync(file)) return null;
  const tensors = await readSafetensors(file).catch((cause: unknown) => {
    throw new CheckpointError({
      message: `${file} cannot be read.`,
      hint: "Resume from an earlier checkpoint.",
      cause,
      fields: { file },
    });
  });
  const head = new ValueHead(device, hiddenSize);
  const need = (name: string, shape: readonly number[]): Float32Array => {
    const tensor = tensors.get(name);
    if (tensor !== undefined && tensor.shape.join() === shape.join()) return tensor.data;
    throw new CheckpointError({
      message: `The checkpoint ${folder} does not fit this model: "${name}" of its critic is missing or has another shape than [${shape.join()}].`,
      hint: "Resume with the model that the checkpoint was made with.",
      fields: { folder, name },
    });
  };
  for (const { name, shape } of head.parameters) {
    head.data.get(name)!.set(need(name, shape));
    setMoments(head.adam.firstMoment.get(name)!, need(`m.${name}`, shape));
    setMoments(head.adam.secondMoment.get(name)!, need(`v.${name}`, shape));
  }
  head.adam.step = need("step", [1])[0]!;
  return head;
}

/** By adapter. */
type Parts = ReadonlyMap<string, { readonly policy: Policy; readonly trainer: PolicyTrainer }>;

export async function saveParts(
  parts: Parts,
  origin: ModelOrigin | null,
  folder: string,
): Promise<void> {
  for (const [name, { policy, trainer }] of parts) {
    const own = folderOf(folder, name);
    await mkdir(own, { recursive: true });
    await savePolicyState(policy, trainer, origin, own);
    if (trainer.madeCritic !== null) await saveCritic(trainer.madeCritic, own);
  }
}

/** @returns what puts all of it in place. @throws CheckpointError; nothing has changed then */
export async function readParts(parts: Parts, folder: string): Promise<() => void> {
  const found: (() => void)[] = [];
  for (const [name, { policy, trainer }] of parts) {
    const own = folderOf(folder, name);
    if (!existsSync(own)) throw lacksAdapter(folder, name);
    const critic = await readCritic(own, policy.device, policy.config.hiddenSize);
    const take = await readPolicyState(policy, trainer, own);
    found.push(take, () => trainer.restoreCritic(critic));
  }
  return () => {
    for (const take of found) take();
  };
}

function folderOf(folder: string, adapter: string): string {
  return adapter === defaultAdapter ? folder : join(folder, adapter);
}

function lacksAdapter(folder: string, name: string): CheckpointError {
  return new CheckpointError({
    message: `The checkpoint ${folder} has no adapter "${name}".`,
    hint: "Resume with the model.adapter_by_role that the checkpoint was made with.",
    fields: { folder, name },
  });
}
