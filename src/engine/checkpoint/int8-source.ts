/** A model on disk whose linear layers are rounded to 8-bit integers as they are read. */
import { isAdapted } from "../model/parameters.ts";
import { roundToInt8, type Int8Matrix } from "../model/int8-matrix.ts";
import type { ModelSource } from "./model-source.ts";

/** @param onMatrix receives the integers of each linear layer that is read */
export function int8Source(
  source: ModelSource,
  onMatrix: (name: string, matrix: Int8Matrix) => void = () => undefined,
): ModelSource {
  return {
    ...source,
    files: null,
    async *read(names) {
      for await (const [name, data] of source.read(names)) {
        if (isAdapted(name)) {
          const shape = source.tensors.get(name)!.shape as readonly [number, number];
          onMatrix(name, roundToInt8(data, shape));
        }
        yield [name, data] as const;
      }
    },
  };
}
