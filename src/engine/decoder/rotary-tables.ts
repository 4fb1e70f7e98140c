/** Cosines and sines of positions, once for each kind of layer. */
import type { ModelConfig } from "../model/model-config.ts";
import type { RopeTable } from "../model/rope.ts";
import type { Device } from "../tensor/device.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";

/** [context length, rotary dimensions / 2] each. */
export interface RotaryTables {
  readonly cosines: Tensor;
  readonly sines: Tensor;
}

/** @param made takes up the tables that it does not have. */
export function rotaryTables(
  device: Device,
  { contextLength }: ModelConfig,
  made: Map<RopeTable, RotaryTables>,
): (rope: RopeTable | null) => RotaryTables | null {
  return (rope) => {
    if (rope === null) return null;
    const tables = made.get(rope) ?? tablesOf(device, rope, contextLength);
    made.set(rope, tables);
    return tables;
  };
}

function tablesOf(device: Device, rope: RopeTable, positions: number): RotaryTables {
  const { frequencies, attentionFactor } = rope;
  const width = frequencies.length;
  const [cosines, sines] = [
    newTensor(device, positions, width),
    newTensor(device, positions, width),
  ];
  const [cosine, sine] = [cosines.data, sines.data];
  for (let position = 0; position < positions; position++)
    for (const [i, frequency] of frequencies.entries()) {
      const angle = Math.fround(position * Math.fround(frequency));
      cosine[position * width + i] = attentionFactor * Math.cos(angle);
      sine[position * width + i] = attentionFactor * Math.sin(angle);
    }
  return { cosines, sines };
}
