import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cutRunLog } from "./run-log.ts";
import { appendLines, cutLines, toLine } from "./json-lines.ts";

const folder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-lines-"));

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

it("cuts lines back, and moves aside what cannot be read", () => {
  const file = join(folder(), "a.jsonl");
  const lines = ['{"step":1}', '{"step":', '{"step":2}', '{"stop":2}', "7", '{"step":3}'];
  writeFileSync(
    file,
    Buffer.from(`${lines.join("\n")}\n\n{"text":"\u00ff"}\n{"step":1,"cut`, "latin1"),
  );
  const found = cutLines(file, ({ step }) => (typeof step === "number" ? step < 3 : null));
  expect(found).toEqual([2, 4, 5, 8].map((line) => ({ line, temporary: `${file}.damaged` })));
  expect(readFileSync(file, "utf8")).toBe('{"step":1}\n{"step":2}\n');
  expect(readFileSync(`${file}.damaged`, "latin1")).toBe(
    '{"step":\n{"stop":2}\n7\n{"text":"\u00ff"}\n',
  );
  // Once is enough, and what was moved before stays.
  expect(cutLines(file, () => true)).toEqual([]);
  expect(readFileSync(`${file}.damaged`, "latin1")).toContain('{"stop":2}');
});

it("loses no line of a record whatever bit flips: each is there, moved aside with a warning, or cut as later", () => {
  const whole = [1, 2, 3].map((step) => `{"step":${step},"phase":"train","reward/mean":0.5}`);
  const bytes = Buffer.from(`${whole.join("\n")}\n`);
  for (let bit = 0; bit < 8 * (bytes.length - 1); bit++) {
    const run = folder();
    const file = join(run, "metrics.jsonl");
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, flipped);
    const warnings = cutRunLog(run, 2 ** 50);
    const kept = readFileSync(file, "utf8").split("\n").length - 1;
    const lineFeeds = flipped.filter((byte) => byte === 0x0a).length;
    expect(kept + warnings.length, `bit ${bit}: ${flipped.toString()}`).toBe(lineFeeds);
    for (const warning of warnings) expect(warning).toMatch(/metrics\.jsonl:\d is damaged/u);
  }
});

it.runIf(process.platform === "linux")("says which file the full disk did not take", () => {
  const lines = appendLines("/dev/full");
  const write = (): void => lines.write({ step: 1 });
  expect(write).toThrow("Cannot write /dev/full: the disk is full (ENOSPC).");
});
