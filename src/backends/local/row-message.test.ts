import { describe, expect, it } from "vitest";
import { rowOf } from "../../../test/engine/small-model.ts";
import { RowArrays } from "../../algorithms/rows/row-arrays.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { messageOfRows, rowsOfMessage } from "./row-message.ts";

/** Rows of a step, cut from shared buffers. */
function stepRows(count: number, length: number): TrainingRow[] {
  const arrays = new RowArrays(count * length);
  return Array.from({ length: count }, (_, r) => {
    const columns = arrays.take(length);
    columns.tokens.forEach((_id, i) => (columns.tokens[i] = 100 * r + i));
    columns.targetMask.fill(1, 2);
    columns.samplingLogprobs.fill(-0.25 - r, 2);
    columns.advantages.fill(r + 0.5, 2);
    return { ...rowOf(columns.tokens, 2), ...columns };
  });
}

describe("messages of rows", () => {
  it("carry every column, temperature, weights and provenance; rows stay as they were", () => {
    const [plain, weighted, odd] = stepRows(3, 7);
    const weights = Float32Array.from({ length: 7 }, (_, i) => i / 8);
    const rows = [plain!, { ...weighted!, weights }, { ...odd!, temperature: 0.7, sequence: "s" }];
    const message = structuredClone(messageOfRows(rows));
    expect(rowsOfMessage(message)).toEqual(rows.map((row) => ({ ...row, segments: [] })));
    expect(plain!.tokens).toHaveLength(7);
  });

  it("have 13 bytes per position, however large the buffers are that rows were cut from", () => {
    const rows = stepRows(50, 11);
    expect(messageOfRows(rows.slice(0, 2)).numbers.byteLength).toBe(2 * 11 * 13);
    expect(messageOfRows([]).numbers.byteLength).toBe(0);
  });
});
