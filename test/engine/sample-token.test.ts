import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/util/random.ts";
import { sampleToken } from "./sample-token.ts";

const probabilities = Float32Array.from([1, 2, 3, 0].map((x) => x / 6));
const plain = { temperature: 1, topP: 1, topK: 0, minP: 0 };

function frequencies(shape: Partial<typeof plain>): number[] {
  const random = createRandom(3);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 20_000; i++)
    counts[sampleToken(probabilities, { ...plain, ...shape }, random()).token]! += 1;
  return counts.map((n) => n / 20_000);
}

/** The same definition, as plainly as possible. */
function bySorting(p: Float32Array, shape: typeof plain, uniform: number): number {
  let kept = [...p]
    .map((x, id) => ({ id, mass: x ** (1 / shape.temperature) }))
    .sort((a, b) => b.mass - a.mass || a.id - b.id);
  if (shape.topK > 0) kept = kept.slice(0, shape.topK);
  const mass = (): number => kept.reduce((sum, item) => sum + item.mass, 0);
  if (shape.topP < 1) {
    const limit = shape.topP * mass();
    let sum = 0;
    const count = kept.findIndex((item) => (sum += item.mass) >= limit) + 1;
    kept = kept.slice(0, count || kept.length);
  }
  const isFiltered = shape.topK > 0 || shape.topP < 1 || shape.minP > 0;
  kept = kept.filter((item) => item.mass >= shape.minP * kept[0]!.mass);
  if (!isFiltered) kept.sort((a, b) => a.id - b.id);
  let rest = uniform * mass();
  return kept.find((item) => (rest -= item.mass) < 0)!.id;
}

describe("pickToken", () => {
  it("draws with the model's probabilities 1/6, 2/6, 3/6", () => {
    const [a, b, c, d] = frequencies({});
    expect(a).toBeCloseTo(1 / 6, 1);
    expect(b).toBeCloseTo(2 / 6, 1);
    expect(c).toBeCloseTo(3 / 6, 1);
    expect(d).toBe(0);
  });

  it("sharpens with temperature 0.5 to 1/14, 4/14, 9/14", () => {
    const [a, b, c] = frequencies({ temperature: 0.5 });
    expect(a).toBeCloseTo(1 / 14, 1);
    expect(b).toBeCloseTo(4 / 14, 1);
    expect(c).toBeCloseTo(9 / 14, 1);
  });

  it("keeps the k likeliest", () => {
    const [a, b, c] = frequencies({ topK: 2 });
    expect(a).toBe(0);
    expect(b).toBeCloseTo(2 / 5, 1);
    expect(c).toBeCloseTo(3 / 5, 1);
  });

  it("keeps the smallest set that reaches top-p", () => {
    expect(frequencies({ topP: 0.499 })).toEqual([0, 0, 1, 0]);
    expect(frequencies({ topP: 0.51 })[0]).toBe(0);
    expect(frequencies({ topP: 0.51 })[1]).toBeGreaterThan(0.3);
  });

  it("drops what is below min-p of the likeliest", () => {
    expect(frequencies({ minP: 0.7 })).toEqual([0, 0, 1, 0]);
    expect(frequencies({ minP: 0.6 })[1]).toBeGreaterThan(0.3);
  });

  it("is greedy at temperature 0 and gives ties to the smaller id", () => {
    expect(sampleToken(probabilities, { ...plain, temperature: 0 }, 0.99).token).toBe(2);
    expect(sampleToken(Float32Array.of(0.5, 0.5), { ...plain, temperature: 0 }, 0.99).token).toBe(
      0,
    );
  });

  it("reports the log-probability of the full softmax, whatever the filters", () => {
    for (const shape of [
      plain,
      { ...plain, temperature: 0 },
      { ...plain, topK: 1, temperature: 0.3 },
    ]) {
      const { token, logprob } = sampleToken(probabilities, shape, 0.9);
      expect(token).toBe(2);
      expect(logprob).toBeCloseTo(Math.log(3 / 6), 6);
    }
  });

  it("reports that of the full softmax at the temperature too, whatever else is filtered", () => {
    // Squares of 1, 2, 3, over their sum.
    for (const extra of [{}, { topK: 1 }, { topP: 0.5 }, { minP: 0.9 }]) {
      const shape = { ...plain, temperature: 0.5, ...extra };
      const { token, temperedLogprob } = sampleToken(probabilities, shape, 0.9);
      expect(token).toBe(2);
      expect(temperedLogprob).toBeCloseTo(Math.log(9 / 14), 6);
    }
    for (const temperature of [0, 1])
      expect(sampleToken(probabilities, { ...plain, temperature }, 0.9)).not.toHaveProperty(
        "temperedLogprob",
      );
  });

  it("filters a large vocabulary as sorting all of it would", () => {
    const random = createRandom(5);
    for (let round = 0; round < 60; round++) {
      const raw = Array.from({ length: 301 }, () => Math.exp(12 * random()));
      const sum = raw.reduce((a, b) => a + b, 0);
      const p = Float32Array.from(raw, (x) => x / sum);
      const shape = {
        temperature: [1, 0.7, 1.6][round % 3]!,
        topK: [0, 1, 7, 250][round % 4]!,
        topP: [1, 0.4, 0.95, 0.9999][(round >> 2) % 4]!,
        minP: [0, 0.01, 0.3][(round >> 1) % 3]!,
      };
      const uniform = random();
      expect(sampleToken(p, shape, uniform).token, JSON.stringify(shape)).toBe(
        bySorting(p, shape, uniform),
      );
    }
  });

  it("never draws a token without mass, even at the very end", () => {
    const edge = Float32Array.of(1, 0);
    expect(sampleToken(edge, plain, 1 - 2 ** -32).token).toBe(0);
  });
});
