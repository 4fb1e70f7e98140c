import { expect, it } from "vitest";
import { createLiveLine } from "./live-line.ts";

function shown(parts: readonly string[], columns?: number, isQuiet = false): string {
  let text = "";
  const stream = { isTTY: true, columns, write: (part: string) => (text += part) };
  createLiveLine({ stream, isQuiet, env: {} }).show(parts);
  return text.replaceAll("\r\u001B[2K", "");
}

it("leaves out whole parts where they do not fit, and never the first", () => {
  const parts = ["step 3/9", "██████████", "reward 0.5", "2m left"];
  expect(shown(parts, 80)).toBe(parts.join("  "));
  expect(shown(parts, 42)).toBe(parts.join("  "));
  expect(shown(parts, 41)).toBe("step 3/9  reward 0.5  2m left");
  expect(shown(parts, 29)).toBe("step 3/9  2m left");
  expect(shown(parts, 5)).toBe("step 3/9");
});

it("keeps the time left, the last part, however long the others are", () => {
  const parts = ["step 3/9", "fail 2", "spent 9 tokens", "1h 20m left"];
  expect(shown(parts, 36)).toBe("step 3/9  fail 2  1h 20m left");
  expect(shown(parts, 24)).toBe("step 3/9  1h 20m left");
});

it("shows nothing when quiet, or where lines cannot be rewritten", () => {
  expect(shown(["a"], 80, true)).toBe("");
  let text = "";
  const line = createLiveLine({
    stream: { write: (part: string) => (text += part) },
    isQuiet: false,
    env: {},
  });
  line.show(["a"]);
  line.clear();
  expect([line.isLive, text]).toEqual([false, ""]);
});
