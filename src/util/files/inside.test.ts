import { posix, win32 } from "node:path";
import { expect, test } from "vitest";
import { isInside } from "./read-inside.ts";

test.each([
  ["/run", "/run/a", true],
  ["/run", "/run/deep/a", true],
  ["/run", "/run/..a", true],
  ["/run", "/run", false],
  ["/run", "/run/../a", false],
  ["/run", "/running/a", false],
  ["/run", "/a", false],
])("from %s to %s: %s", (folder, file, expected) => {
  expect(isInside(folder, file, posix)).toBe(expected);
});

test.each([
  [String.raw`C:\run`, String.raw`C:\run\a`, true],
  [String.raw`C:\run`, "c:/RUN/deep/a", true],
  [String.raw`C:\run`, String.raw`C:\run\..a`, true],
  [String.raw`C:\run`, String.raw`C:\run\..\a`, false],
  [String.raw`C:\run`, String.raw`D:\a`, false],
  [String.raw`C:\run`, String.raw`D:\run\a`, false],
  [String.raw`C:\run`, String.raw`\\server\share\a`, false],
])("on Windows, from %s to %s: %s", (folder, file, expected) => {
  expect(isInside(folder, file, win32)).toBe(expected);
});
