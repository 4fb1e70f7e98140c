/** Weights on their way into a decoder: some rows at a time, in native memory, as they are on the disk where possible. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { groupBy } from "../../util/group-by.ts";
import { fromBfloat16 } from "../checkpoint/half-floats.ts";
import type { ModelSource } from "../checkpoint/model-source.ts";
import type { StoredTensor } from "../checkpoint/model-weights.ts";
import { readFully } from "../checkpoint/read-chunks.ts";
import { bytesPerElement, decodeTensor } from "../checkpoint/safetensors.ts";
import type { Device } from "../tensor/device.ts";
import type { Program } from "../tensor/program.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";

export type Rows = Tensor | Tensor<"bf16">;
/** Takes over rows from row `first` on, with what it adds to the program. */
export type RowWriter = (program: Program, rows: Rows, first: number) => void;

export interface WeightRows {
  readonly name: string;
  /** Of the parameter's rows, the first of these. A vector is a row. */
  readonly first: number;
  /** Valid until the next but one are asked for. */
  readonly rows: Rows;
}

export type NamedValues =
  | AsyncIterable<readonly [string, Float32Array]>
  | Iterable<readonly [string, Float32Array]>;

const valuesOf = (rows: Rows): Float32Array =>
  rows.type === "bf16" ? fromBfloat16(rows.data) : rows.data;

export const tableWriter =
  (table: Tensor): RowWriter =>
  (_, rows, first) => {
    table.slice(first, rows.rows).data.set(valuesOf(rows));
  };

export const vectorWriter =
  (vector: Tensor): RowWriter =>
  (_, rows) => {
    vector.data.set(valuesOf(rows));
  };

/** Stays in a processor's cache from where it is read to where it is packed. */
const stageBytes = 4 * 2 ** 20;
/** Panels of a matrix are of so many rows at most. */
const rowUnit = 64;

/** Two pieces of memory, one after the other. */
class Stages {
  readonly #device: Device;
  readonly #stages: Tensor<"i8">[] = [];
  #next = 0;

  constructor(device: Device) {
    this.#device = device;
  }

  /** How many rows fit. */
  rowsOf(rowBytes: number): number {
    const fitting = Math.floor(stageBytes / rowBytes);
    return Math.max(1, fitting > rowUnit ? fitting - (fitting % rowUnit) : fitting);
  }

  take(type: Rows["type"], rows: number, columns: number): Rows {
    const bytes = rows * columns * (type === "f32" ? 4 : 2);
    const place = this.#next;
    this.#next = 1 - place;
    let stage = this.#stages[place];
    if (stage === undefined || stage.columns < bytes)
      stage = newTensor(this.#device, 1, Math.max(stageBytes, bytes), "i8");
    this.#stages[place] = stage;
    return type === "f32" ? stage.as(type, rows, columns) : stage.as(type, rows, columns);
  }
}

/** The named tensors in the order in which they are on the disk. @throws ModelError */
export function rowsOfSource(
  device: Device,
  source: ModelSource,
  names: readonly string[],
): AsyncIterable<WeightRows> {
  const { files, path, tensors } = source;
  if (files !== null) return rowsOfFiles(device, path, files, names);
  const shapes = new Map(Array.from(tensors, ([name, { shape }]) => [name, shape]));
  return rowsOfValues(device, source.read(names), shapes);
}

async function* rowsOfFiles(
  device: Device,
  folder: string,
  files: ReadonlyMap<string, StoredTensor>,
  names: readonly string[],
): AsyncGenerator<WeightRows> {
  const stages = new Stages(device);
  const sorted = names.toSorted((a, b) => files.get(a)!.offset - files.get(b)!.offset);
  for (const [file, members] of groupBy(sorted, (name) => files.get(name)!.file)) {
    const handle = await open(join(folder, file), "r");
    try {
      for (const name of members) {
        const { dtype, shape, offset } = files.get(name)!;
        const [rows, columns] = rowsAndColumns(shape);
        const rowBytes = columns * bytesPerElement[dtype];
        const most = stages.rowsOf(rowBytes);
        for (let first = 0; first < rows; first += most) {
          const count = Math.min(most, rows - first);
          const stage = stages.take(dtype === "BF16" ? "bf16" : "f32", count, columns);
          const { data } = stage;
          const start = offset + first * rowBytes;
          if (dtype === "F16") {
            const halves = new Uint8Array(count * rowBytes);
            await readFully(handle, halves, start);
            data.set(decodeTensor(halves, dtype));
          } else await readFully(handle, bytesOf(data), start);
          yield { name, first, rows: stage };
        }
      }
    } finally {
      await handle.close();
    }
  }
}

/** @param shapes by name */
export async function* rowsOfValues(
  device: Device,
  values: NamedValues,
  shapes: ReadonlyMap<string, readonly number[]>,
): AsyncGenerator<WeightRows> {
  const stages = new Stages(device);
  for await (const [name, data] of values) {
    const [rows, columns] = rowsAndColumns(shapes.get(name)!);
    const most = stages.rowsOf(4 * columns);
    for (let first = 0; first < rows; first += most) {
      const count = Math.min(most, rows - first);
      const stage = stages.take("f32", count, columns);
      stage.data.set(data.subarray(first * columns, (first + count) * columns));
      yield { name, first, rows: stage };
    }
  }
}

const rowsAndColumns = (shape: readonly number[]): readonly [number, number] =>
  shape.length === 1 ? [1, shape[0]!] : (shape as [number, number]);

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
