import { expect, it } from "vitest";
import { ropeTable } from "../../model/rope.ts";
import { ropeScalingOf } from "./gguf-rope.ts";

const refuse = (what: string): never => {
  throw new Error(what);
};

// As in the config.json of Llama 3.1 and Llama 3.2.
it.each([
  [8, 128],
  [32, 64],
])("finds the parameters behind the factors of Llama 3, factor %i", (factor, headSize) => {
  const rope_scaling = {
    rope_type: "llama3",
    factor,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  };
  const theta = 500_000;
  const settings = { theta, scaling: rope_scaling, config: {} };
  const { frequencies: scaled } = ropeTable(settings, headSize, refuse);
  const factors = Float32Array.from(scaled, (f, i) => theta ** (-i / scaled.length) / f);
  const tensors = new Map([["rope_freqs.weight", factors]]);
  const rope = { type: "none", factor: undefined, factors: tensors, theta };
  expect(ropeScalingOf(rope, refuse)).toEqual(rope_scaling);
});

it("reads linear scaling, and none", () => {
  const rope = {
    type: "none",
    factor: undefined,
    factors: new Map<string, Float32Array>(),
    theta: 10_000,
  };
  expect(ropeScalingOf(rope, refuse)).toBe(null);
  expect(ropeScalingOf({ ...rope, type: "linear", factor: 4 }, refuse)).toEqual({
    rope_type: "linear",
    factor: 4,
  });
  const ones = new Map([["rope_freqs.weight", new Float32Array(8).fill(1)]]);
  expect(ropeScalingOf({ ...rope, factors: ones }, refuse)).toBe(null);
});

it.each([
  [{ type: "yarn" }, /"yarn" is not supported; supported: none, linear/],
  [{ type: "linear" }, /factor" is missing/],
  [
    { factors: new Map([["rope_freqs.weight", Float32Array.of(1, 2, 7, 8)]]) },
    /Llama 3's rope scaling/,
  ],
])("refuses %j", (change, message) => {
  const rope = {
    type: "none",
    factor: undefined,
    factors: new Map<string, Float32Array>(),
    theta: 10_000,
    ...change,
  };
  expect(() => ropeScalingOf(rope, refuse)).toThrow(message);
});
