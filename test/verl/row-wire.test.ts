import { expect, it } from "vitest";
import { encodeRows } from "../../src/backends/verl/row-wire.ts";
import { rowOf } from "./fake-bridge.ts";

const rows = [
  rowOf({ tokens: [7, 8, 9], logprobs: [-0.5, -1], advantage: 2 }),
  { ...rowOf({ tokens: [1, 2], logprobs: [-3], advantage: -1 }), weights: Float32Array.of(1, 0.5) },
];

it("writes columns one after the other, little-endian", () => {
  const body = encodeRows(rows, Float64Array.of(0.25, 0.1), { step: 3 });
  const view = new DataView(body.buffer);
  const size = view.getUint32(0, true);
  const header: unknown = JSON.parse(new TextDecoder().decode(body.subarray(4, 4 + size)));
  expect(header).toEqual({ step: 3, lengths: [3, 2], factors: [0.25, 0.1] });
  const start = 4 + size;
  expect(body.length).toBe(start + 5 * 17);
  const ids = Array.from({ length: 5 }, (_, i) => view.getInt32(start + 4 * i, true));
  expect(ids).toEqual([7, 8, 9, 1, 2]);
  expect(Array.from(body.subarray(start + 20, start + 25))).toEqual([0, 1, 1, 0, 1]);
  const floats = Array.from({ length: 15 }, (_, i) => view.getFloat32(start + 25 + 4 * i, true));
  expect(floats.slice(0, 5)).toEqual([0, -0.5, -1, 0, -3]);
  expect(floats.slice(5, 10)).toEqual([0, 2, 2, 0, -1]);
  // A row without weights counts its trained tokens once.
  expect(floats.slice(10)).toEqual([0, 1, 1, 1, 0.5]);
});

it("writes temperatures where a row has another than 1", () => {
  const body = encodeRows([{ ...rows[0]!, temperature: 0.7 }, rows[1]!], Float64Array.of(1, 1), {});
  const size = new DataView(body.buffer).getUint32(0, true);
  const header: unknown = JSON.parse(new TextDecoder().decode(body.subarray(4, 4 + size)));
  expect(header).toMatchObject({ temperatures: [0.7, 1] });
});
