import { expect, it } from "vitest";
import { createByteProgress, formatBytes } from "./byte-progress.ts";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1500, "1.50 kB"],
  [98_362_432, "98.4 MB"],
  [2.5e12, "2.50 TB"],
])("writes %d bytes as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

function record(isTTY: boolean, isQuiet = false) {
  let [text, time] = ["", 0];
  const stream = { isTTY, columns: 40, write: (part: string) => (text += part) };
  const env = { TERM: "xterm" };
  const progress = createByteProgress({ stream, isQuiet, env, now: () => (time += 60) });
  return { progress, text: () => text };
}

it("writes a line per tenth where lines cannot be rewritten", () => {
  const { progress, text } = record(false);
  for (let done = 0; done <= 1000; done += 20) progress.report("a.bin", done, 1000);
  progress.clear();
  const lines = text().trimEnd().split("\n");
  expect(lines.length).toBe(11);
  // 20 bytes every 60 ms.
  expect(lines[5]).toBe("50 % of 1.00 kB  a.bin  333 B/s  2s left");
  expect(lines.at(-1)).toBe("100 % of 1.00 kB  a.bin");
});

it("rewrites its line on a terminal, not too often, and clears it", () => {
  const { progress, text } = record(true);
  for (let i = 0; i < 10; i++) progress.report("\u001b[31ma.bin", i, 10);
  progress.clear();
  const parts = text().split("\r\u001b[2K");
  expect(parts.at(-1)).toBe("");
  // Every 120 ms of the clock above.
  expect(parts.length).toBe(7);
  expect(text()).not.toContain("[31m");
});

it("is silent when it is quiet, or when there is nothing to do", () => {
  const quiet = record(true, true);
  quiet.progress.report("x", 1, 2);
  quiet.progress.clear();
  const empty = record(true);
  empty.progress.report("x", 0, 0);
  empty.progress.clear();
  expect([quiet.text(), empty.text()]).toEqual(["", ""]);
});
