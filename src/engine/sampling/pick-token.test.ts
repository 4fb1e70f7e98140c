import { describe, expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { pickToken } from "./pick-token.ts";

const logits = Float32Array.from([1, 2, 3, 0].map((x) => Math.log(x + 1e-30)));
const plain = { temperature: 1, topP: 1, topK: 0, minP: 0 };

function frequencies(shape: Partial<typeof plain>): number[] {
  const random = createRandom(3);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 20_000; i++)
    counts[pickToken(logits, { ...plain, ...shape }, random()).token]! += 1;
  return counts.map((n) => n / 20_000);
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
    expect(frequencies({ topP: 0.5 })).toEqual([0, 0, 1, 0]);
    expect(frequencies({ topP: 0.51 })[0]).toBe(0);
    expect(frequencies({ topP: 0.51 })[1]).toBeGreaterThan(0.3);
  });

  it("drops what is below min-p of the likeliest", () => {
    expect(frequencies({ minP: 0.7 })).toEqual([0, 0, 1, 0]);
    expect(frequencies({ minP: 0.6 })[1]).toBeGreaterThan(0.3);
  });

  it("is greedy at temperature 0 and gives ties to the smaller id", () => {
    expect(pickToken(logits, { ...plain, temperature: 0 }, 0.99).token).toBe(2);
    expect(pickToken(Float32Array.of(5, 5), { ...plain, temperature: 0 }, 0.99).token).toBe(0);
  });

  it("reports the log-probability of the full softmax, whatever the filters", () => {
    for (const shape of [
      plain,
      { ...plain, temperature: 0 },
      { ...plain, topK: 1, temperature: 0.3 },
    ]) {
      const { token, logprob } = pickToken(logits, shape, 0.9);
      expect(token).toBe(2);
      expect(logprob).toBeCloseTo(Math.log(3 / 6), 6);
    }
  });

  it("never draws a token without mass, even at the very end", () => {
    const edge = Float32Array.of(0, -Infinity);
    expect(pickToken(edge, plain, 1 - 2 ** -32).token).toBe(0);
  });
});
