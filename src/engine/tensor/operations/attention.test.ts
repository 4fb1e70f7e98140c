import { describe, expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { loadNative } from "../../native/load-native.ts";
import { Device } from "../device.ts";
import { Program } from "../program.ts";
import { newTensor, tensorOf, type Tensor } from "../tensor.ts";
import {
  attend,
  attendBackward,
  keyBlock,
  layOutSegments,
  type AttentionSegment,
  type HeadShape,
} from "./attention.ts";
import { attendCached, cacheLayerFloats, writeCache } from "./cached-attention.ts";

interface Case {
  readonly shape: HeadShape;
  readonly segments: readonly AttentionSegment[];
}

function randomCase(seed: number): Case {
  const random = createRandom(seed);
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const keyHeads = pick(1, 2, 3);
  const headSize = pick(2, 8, 16, 20, 64);
  const heads = keyHeads * pick(1, 2, 3, 7);
  const shape = {
    heads,
    keyHeads,
    headSize,
    scale: 1 / Math.sqrt(headSize),
    window: pick(null, 1, 5, 70),
  };
  const segments: AttentionSegment[] = [];
  let start = 0;
  for (let family = 0; family < pick(1, 2, 3); family++) {
    const place = (length: number, prefix: number | null): void => {
      segments.push({ start, length, prefix });
      start += length;
    };
    const first = segments.length;
    place(pick(1, 3, 7, 37, 64, 100), null);
    for (let i = 0; i < pick(0, 1, 2); i++) place(pick(1, 5, 30, 66), first);
  }
  return { shape, segments };
}

function randomTensor(device: Device, rows: number, columns: number, random: () => number): Tensor {
  const tensor = newTensor(device, rows, columns);
  const { data } = tensor;
  for (let i = 0; i < data.length; i++) data[i] = 2 * random() - 1;
  return tensor;
}

/** Tokens that each token attends to, in order. */
function keysOf({ shape, segments }: Case): number[][] {
  return segments.flatMap(({ start, length, prefix }) => {
    const before = prefix === null ? [] : range(segments[prefix]!);
    return Array.from({ length }, (_, i) => {
      const all = [...before, ...range({ start, length: i + 1 })];
      return shape.window === null ? all : all.slice(-shape.window);
    });
  });
}
const range = ({ start, length }: { start: number; length: number }): number[] =>
  Array.from({ length }, (_, i) => start + i);

/** Attention and, with the gradient of its result, the gradients of its inputs: in doubles. */
function reference(found: Case, qkv: Float32Array, dMixed: Float32Array) {
  const { heads, keyHeads, headSize: D, scale } = found.shape;
  const width = (heads + 2 * keyHeads) * D;
  const keys = keysOf(found);
  const mixed = new Float64Array(keys.length * heads * D);
  const gradient = new Float64Array(qkv.length);
  for (const [t, attended] of keys.entries()) {
    for (let h = 0; h < heads; h++) {
      const group = Math.floor(h / (heads / keyHeads));
      const q = t * width + h * D;
      const keyOf = (j: number): number => j * width + (heads + group) * D;
      const valueOf = (j: number): number => keyOf(j) + keyHeads * D;
      const dot = (a: Float32Array, x: number, b: Float32Array, y: number): number => {
        let sum = 0;
        for (let d = 0; d < D; d++) sum += a[x + d]! * b[y + d]!;
        return sum;
      };
      const scores = attended.map((j) => dot(qkv, q, qkv, keyOf(j)) * scale);
      const most = Math.max(...scores);
      const masses = scores.map((score) => Math.exp(score - most));
      const total = masses.reduce((a, b) => a + b, 0);
      const shares = masses.map((mass) => mass / total);
      const out = (t * heads + h) * D;
      const dShares = attended.map((j) => dot(dMixed, out, qkv, valueOf(j)));
      const mean = shares.reduce((sum, share, i) => sum + share * dShares[i]!, 0);
      for (const [i, j] of attended.entries()) {
        const dScore = shares[i]! * (dShares[i]! - mean) * scale;
        for (let d = 0; d < D; d++) {
          mixed[out + d]! += shares[i]! * qkv[valueOf(j) + d]!;
          gradient[valueOf(j) + d]! += shares[i]! * dMixed[out + d]!;
          gradient[q + d]! += dScore * qkv[keyOf(j) + d]!;
          gradient[keyOf(j) + d]! += dScore * qkv[q + d]!;
        }
      }
    }
  }
  return { mixed, gradient };
}

function worst(found: Float32Array, expected: Float64Array): number {
  return found.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0);
}

/** Through the cache, each family of segments as sequences: `at` tokens at a time. */
function cached(device: Device, { shape, segments }: Case, qkv: Tensor, at: number): Float32Array {
  const result = new Float32Array(qkv.rows * shape.heads * shape.headSize);
  const layerFloats = cacheLayerFloats(shape);
  for (const { start, length, prefix } of segments) {
    const tokens = [
      ...(prefix === null ? [] : range(segments[prefix]!)),
      ...range({ start, length }),
    ];
    const blockCount = Math.ceil(tokens.length / keyBlock);
    const memory = newTensor(device, blockCount, 2 * layerFloats);
    memory.data.fill(NaN);
    const addresses = Array.from({ length: blockCount }, (_, b) => memory.slice(b, 1).address);
    const table = newTensor(device, 1, blockCount, "f64");
    table.data.set(addresses);
    for (let from = 0; from < tokens.length; from += at) {
      const own = tokens.slice(from, from + at);
      const rows = newTensor(device, own.length, qkv.columns);
      for (const [i, token] of own.entries()) rows.row(i).set(qkv.row(token));
      const positions = own.map((_, i) => from + i);
      const places = {
        blocks: tensorOf(
          device,
          positions.map((p) => addresses[Math.floor(p / keyBlock)]!),
          "f64",
        ),
        slots: tensorOf(
          device,
          positions.map((p) => p % keyBlock),
          "i32",
        ),
        table,
        sequences: tensorOf(
          device,
          positions.map(() => 0),
          "i32",
        ),
        positions: tensorOf(device, positions, "i32"),
        positionSum: positions.reduce((sum, p) => sum + p + 1, 0),
      };
      const mixed = newTensor(device, own.length, shape.heads * shape.headSize);
      const program = new Program(device);
      writeCache(program, rows, places, shape, layerFloats);
      attendCached(program, rows, mixed, places, shape, layerFloats);
      program.runNow();
      for (const [i, token] of own.entries())
        if (token >= start) result.set(mixed.row(i), token * mixed.columns);
    }
  }
  return result;
}

describe.each(loadNative().instructionSets.map(({ name }) => name))(
  "attention with %s",
  (instructionSet) => {
    const devices = [1, 2].map((threads) => new Device({ threads, instructionSet }));
    const device = devices[1]!;

    it("equals sums in doubles, forward and backward, with the same bits for any number of threads", () => {
      for (let seed = 0; seed < 12; seed++) {
        const found = randomCase(seed);
        const { heads, keyHeads, headSize } = found.shape;
        const results = devices.map((own) => {
          const random = createRandom(seed + 100);
          const layout = layOutSegments(own, found.segments);
          const qkv = randomTensor(own, layout.tokens, (heads + 2 * keyHeads) * headSize, random);
          const dMixed = randomTensor(own, layout.tokens, heads * headSize, random);
          const mixed = newTensor(own, layout.tokens, heads * headSize);
          const gradient = newTensor(own, layout.tokens, qkv.columns);
          const program = new Program(own);
          attend(program, qkv, mixed, found.shape, layout);
          attendBackward(program, qkv, dMixed, gradient, found.shape, layout);
          program.runNow();
          return { qkv, dMixed, mixed, gradient };
        });
        const { qkv, dMixed, mixed, gradient } = results[0]!;
        const expected = reference(found, qkv.data, dMixed.data);
        expect(worst(mixed.data, expected.mixed)).toBeLessThan(1e-6);
        expect(worst(gradient.data, expected.gradient)).toBeLessThan(2e-5);
        expect(results[1]!.mixed.data).toEqual(mixed.data);
        expect(results[1]!.gradient.data).toEqual(gradient.data);
      }
    });

    it("has the same bits through the cache, token by token and in chunks", () => {
      for (let seed = 0; seed < 12; seed++) {
        const found = randomCase(seed);
        const { heads, keyHeads, headSize } = found.shape;
        const layout = layOutSegments(device, found.segments);
        const qkv = randomTensor(
          device,
          layout.tokens,
          (heads + 2 * keyHeads) * headSize,
          createRandom(seed),
        );
        const mixed = newTensor(device, layout.tokens, heads * headSize);
        const program = new Program(device);
        attend(program, qkv, mixed, found.shape, layout);
        program.runNow();
        for (const at of [1, 50]) expect(cached(device, found, qkv, at)).toEqual(mixed.data);
      }
    });
  },
);

it("refuses segments that overlap, and heads that do not share evenly", () => {
  const device = new Device({ threads: 1 });
  expect(() =>
    layOutSegments(device, [
      { start: 0, length: 3, prefix: null },
      { start: 2, length: 3, prefix: null },
    ]),
  ).toThrow(RangeError);
  const layout = layOutSegments(device, [{ start: 0, length: 3, prefix: null }]);
  const shape = { heads: 3, keyHeads: 2, headSize: 4, scale: 1, window: null };
  const program = new Program(device);
  expect(() =>
    attend(program, newTensor(device, 3, 28), newTensor(device, 3, 12), shape, layout),
  ).toThrow(RangeError);
});
