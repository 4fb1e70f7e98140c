import { expect, it } from "vitest";
import { appendLines, toLine } from "./json-lines.ts";

it("writes typed arrays as arrays of numbers, wherever they are", () => {
  const value = {
    ids: Int32Array.of(1, -2, 150_000),
    deep: [{ logprobs: Float32Array.of(-0.1, -1e-30, 3e38), none: new Float32Array(0) }],
    text: 'a "quoted" [1,2] \u0001 text',
    nothing: undefined,
  };
  const line = toLine(value);
  expect(line).toBe(
    `${JSON.stringify({
      ids: [1, -2, 150_000],
      deep: [{ logprobs: Array.from(Float32Array.of(-0.1, -1e-30, 3e38)), none: [] }],
      text: value.text,
    })}\n`,
  );
  expect(toLine({ odd: Float32Array.of(1, Number.NaN, Infinity) })).toBe('{"odd":[1,null,null]}\n');
});

it.runIf(process.platform === "linux")("says which file the full disk did not take", () => {
  const lines = appendLines("/dev/full");
  const write = (): void => lines.write({ step: 1 });
  expect(write).toThrow("Cannot write /dev/full: the disk is full (ENOSPC).");
});
