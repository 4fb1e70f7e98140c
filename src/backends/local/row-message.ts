/**
 * Training rows as a message to the engine's thread: one buffer with their numbers, which is moved. Rows
 * are cut from buffers that hold a whole step (`row-arrays.ts`), and posting them as they are would copy
 * those buffers with every message.
 */
import type { RowProvenance, RowRules, TrainingRow } from "../../core/loss/training-row.ts";

interface RowShape {
  readonly length: number;
  readonly temperature: number | undefined;
  readonly adapter: string | undefined;
  readonly hasWeights: boolean;
  readonly hasObservations: boolean;
  /** `values` and `returns`. */
  readonly hasReturns: boolean;
  readonly rules?: readonly RowRules[];
  readonly sequence?: string;
  readonly provenance: RowProvenance;
}

export interface RowMessage {
  /** Each row's tokens, log-probabilities, advantages, both kinds of weights, values and returns; then all masks. */
  readonly numbers: ArrayBuffer;
  readonly shapes: readonly RowShape[];
}

/** Bytes of a position in a 32-bit column. */
const wide = 4;

/** The same rows as views of `numbers`; without `segments`, which the engine does not read. */
export function rowsOfMessage({ numbers, shapes }: RowMessage): TrainingRow[] {
  let mask = numbers.byteLength - shapes.reduce((sum, { length }) => sum + length, 0);
  let at = 0;
  const column = <T>(
    View: new (buffer: ArrayBuffer, offset: number, length: number) => T,
    length: number,
  ): T => {
    const view = new View(numbers, at, length);
    at += wide * length;
    return view;
  };
  return shapes.map(({ length, temperature, adapter, rules, sequence, provenance, ...has }) => {
    const row: TrainingRow = {
      tokens: column(Int32Array, length),
      samplingLogprobs: column(Float32Array, length),
      advantages: column(Float32Array, length),
      ...(has.hasWeights ? { weights: column(Float32Array, length) } : {}),
      ...(has.hasObservations ? { observationWeights: column(Float32Array, length) } : {}),
      ...(has.hasReturns
        ? { values: column(Float32Array, length), returns: column(Float32Array, length) }
        : {}),
      targetMask: new Uint8Array(numbers, mask, length),
      ...(temperature === undefined ? {} : { temperature }),
      ...(adapter === undefined ? {} : { adapter }),
      ...(rules === undefined ? {} : { rules }),
      ...(sequence === undefined ? {} : { sequence }),
      segments: [],
      provenance,
    };
    mask += length;
    return row;
  });
}

/** Copies `rows`, which stay usable. */
export function messageOfRows(rows: readonly TrainingRow[]): RowMessage {
  const shapes = rows.map((row): RowShape => ({
    length: row.tokens.length,
    temperature: row.temperature,
    adapter: row.adapter,
    hasWeights: row.weights !== undefined,
    hasObservations: row.observationWeights !== undefined,
    hasReturns: row.returns !== undefined,
    ...(row.rules === undefined ? {} : { rules: row.rules }),
    ...(row.sequence === undefined ? {} : { sequence: row.sequence }),
    provenance: row.provenance,
  }));
  const bytes = shapes.reduce((sum, { length, hasWeights, hasObservations, hasReturns }) => {
    const columns = 3 + (hasWeights ? 1 : 0) + (hasObservations ? 1 : 0) + (hasReturns ? 2 : 0);
    return sum + length * (columns * wide + 1);
  }, 0);
  const message = { numbers: new ArrayBuffer(bytes), shapes };
  for (const [i, copy] of rowsOfMessage(message).entries()) {
    const row = rows[i]!;
    copy.tokens.set(row.tokens);
    copy.samplingLogprobs.set(row.samplingLogprobs);
    copy.advantages.set(row.advantages);
    if (row.weights !== undefined) copy.weights?.set(row.weights);
    if (row.observationWeights !== undefined) copy.observationWeights?.set(row.observationWeights);
    if (row.values !== undefined) copy.values?.set(row.values);
    if (row.returns !== undefined) copy.returns?.set(row.returns);
    copy.targetMask.set(row.targetMask);
  }
  return message;
}
