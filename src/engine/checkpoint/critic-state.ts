/** The state of a critic: its parameters and AdamW's moments, in a file of the checkpoint. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CheckpointError } from "../../core/errors.ts";
import { writeSynced } from "../../util/files/atomic-write.ts";
import { setMoments } from "../optimizer/moments.ts";
import type { Device } from "../tensor/device.ts";
import { ValueHead } from "../training/value-head.ts";
import { encodeSafetensors, readSafetensors, type StorableTensor } from "./safetensors.ts";

/** Safetensors inside, as with `optimizerFile`. */
const criticFile = "critic.state";

/** Writes into an existing folder; the file is on the disk before this resolves. */
export async function saveCritic(
  { parameters, data, adam }: ValueHead,
  folder: string,
): Promise<void> {
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
export async function readCritic(
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
