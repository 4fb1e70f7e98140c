import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { ConfigError } from "../../core/errors.ts";
import { overlay } from "../../core/overlay.ts";
import { chooseNative, withTestedSets } from "./load-native.ts";
import type { Native } from "./native.ts";
import { selfTest } from "./self-test.ts";

const natives = [chooseNative("addon"), chooseNative("wasm")] as const;
const [addon] = natives;

/** Sets one bit of the numbers that the products of some instruction sets give. */
function withWrongSets(native: Native, wrong: (id: number) => boolean): Native {
  let result: Float32Array | undefined;
  return overlay(native, {
    allocate: (bytes) => {
      const memory = native.allocate(bytes);
      // The result is the only one of this size.
      if (memory !== null && bytes === 4 * 39 * 70) {
        result = new Float32Array(memory.buffer as ArrayBuffer, memory.byteOffset, 1);
      }
      return memory;
    },
    runNow: (set, commands, length, threads) => {
      native.runNow(set, commands, length, threads);
      if (wrong(set)) result![0]! += 1;
    },
  });
}

let emitted: MockInstance<typeof process.emitWarning>;
beforeEach(() => {
  emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(() => {
  emitted.mockRestore();
});
const warnings = (): unknown[] => emitted.mock.calls.map(([message]) => message);

describe("the choice of what computes", () => {
  it("takes the addon, and wasm where it is asked for, and says nothing", () => {
    expect([chooseNative(undefined).kind, natives[1].kind]).toEqual(["addon", "wasm"]);
    expect(warnings()).toEqual([]);
  });

  it("falls back to wasm, and says why once", () => {
    const native = chooseNative(undefined, undefined, (kind) => {
      if (kind === "addon") throw new Error("GLIBC_2.17 not found.");
      return natives[1];
    });
    expect(native.kind).toBe("wasm");
    expect(warnings()).toEqual([
      "The embedded engine runs as WebAssembly, on one processor and slower. GLIBC_2.17 not found.",
    ]);
  });

  it("does not fall back where the addon is asked for", () => {
    const load = (): never => {
      throw new Error("GLIBC_2.17 not found.");
    };
    expect(() => chooseNative("addon", undefined, load)).toThrow("GLIBC_2.17");
    expect(() => chooseNative("cuda")).toThrow(ConfigError);
  });
});

describe.each(natives)("the self-test of $kind", (native) => {
  it("passes on every instruction set", () => {
    expect(native.instructionSets.map((set) => selfTest(native, set))).toEqual(
      native.instructionSets.map(() => null),
    );
  });

  it("fails where one number is wrong", () => {
    const wrong = withWrongSets(native, () => true);
    expect(selfTest(wrong, wrong.instructionSets[0]!)).toMatch(
      /^a product of f32 gave -?\d+ in place of -?\d+$/u,
    );
  });

  it("fails where there is no memory", () => {
    const full = overlay(native, { allocate: () => null });
    expect(selfTest(full, native.instructionSets[0]!)).toBe("Out of memory.");
  });

  it("fails, as a whole, where every instruction set does", () => {
    const wrong = withWrongSets(native, () => true);
    expect(() => withTestedSets("this", wrong)).toThrow(/^The kernels for this cannot be used/u);
  });
});

it("uses the next instruction set where one computes wrong numbers, and says it once", () => {
  expect(addon.instructionSets.length).toBeGreaterThan(1);
  const tested = withTestedSets(
    "this",
    withWrongSets(addon, (id) => id === 0),
  );
  expect(tested.instructionSets).toEqual(addon.instructionSets.slice(1));
  expect(warnings()).toEqual([
    expect.stringMatching(/^The embedded engine uses \w+, which is slower: with \w+, a product/u),
  ]);
});
