import { totalmem } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { memoryLimit } from "./memory-limit.ts";

afterEach(() => vi.restoreAllMocks());

it.each([
  ["no limit known", 0, totalmem()],
  ["a container's limit", 2 ** 30, 2 ** 30],
  ["a limit beyond the machine", 2 ** 63, totalmem()],
])("%s", (_, constrained, expected) => {
  vi.spyOn(process, "constrainedMemory").mockReturnValue(constrained);
  expect(memoryLimit()).toBe(expected);
});
