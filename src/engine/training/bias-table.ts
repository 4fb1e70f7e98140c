/** What rules add to rows of logits, each distinct addition once: row 0 adds nothing. */
import { writeBias, type LogitBias } from "../logit-rules/rule-state.ts";
import type { Device } from "../tensor/device.ts";
import type { LogitBiases } from "../tensor/operations/head.ts";
import { newTensor, tensorOf } from "../tensor/tensor.ts";

/** Null where nothing is added. */
export function biasTable(
  device: Device,
  biases: readonly (LogitBias | null)[] | null,
  vocabulary: number,
): LogitBiases | null {
  if (biases === null || biases.every((bias) => bias === null)) return null;
  const known = new Map<unknown, number>();
  const distinct: LogitBias[] = [];
  const of = biases.map((bias) => {
    if (bias === null) return 0;
    // Masks are found once each; what is added to single tokens is not.
    const key = bias.added.size === 0 ? bias.mask : bias;
    const place = known.get(key) ?? distinct.push(bias);
    known.set(key, place);
    return place;
  });
  const rows = newTensor(device, distinct.length + 1, vocabulary);
  for (const [i, bias] of distinct.entries()) writeBias(rows.row(i + 1), bias, 1);
  return { rows, of: tensorOf(device, of, "i32") };
}
