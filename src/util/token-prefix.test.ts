import { describe, expect, it } from "vitest";
import { createRandom } from "./random.ts";
import { commonPrefix, commonWithCall, continuesCall, hasPrefix } from "./token-prefix.ts";

const ids = (...values: readonly number[]): Int32Array => Int32Array.from(values);

describe("commonPrefix", () => {
  it.each([
    [[], [], 0, 0],
    [[1, 2], [1, 2, 3], 0, 2],
    [[1, 2, 3], [1, 2], 0, 2],
    [[1, 9], [1, 2], 0, 1],
    [[2, 3], [1, 2, 3], 1, 2],
    [[2, 3], [1, 2], 1, 1],
    [[2], [1, 2], 2, 0],
  ])("of %j and %j from %d is %d", (part, whole, offset, length) => {
    expect(commonPrefix(part, ids(...whole), offset)).toBe(length);
  });
});

describe("hasPrefix", () => {
  it("needs every id, in order; nothing is a prefix of everything", () => {
    expect(hasPrefix(ids(1, 2), ids(1, 2))).toBe(true);
    expect(hasPrefix(ids(1, 2), ids())).toBe(true);
    expect(hasPrefix(ids(1), ids(1, 2))).toBe(false);
    expect(hasPrefix(ids(1, 3), ids(1, 2))).toBe(false);
  });
});

describe("continuesCall", () => {
  it("agrees with comparing the joined ids, wherever the two differ", () => {
    const random = createRandom(1);
    const few = (): number[] =>
      Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * 2));
    const outcomes = { continues: 0, differs: 0 };
    for (let round = 0; round < 2000; round++) {
      const [prompt, response, later] = [few(), few(), [...few(), ...few(), ...few()]];
      const joined = [...prompt, ...response];
      const difference = joined.findIndex((id, i) => id !== later[i]);
      const call = { promptIds: ids(...prompt), responseIds: ids(...response) };
      expect(commonWithCall(later, call)).toBe(difference === -1 ? joined.length : difference);
      expect(continuesCall(later, call)).toBe(difference === -1);
      outcomes[difference === -1 ? "continues" : "differs"]++;
    }
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(200);
  });
});
