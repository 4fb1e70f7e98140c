import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { shortModelName } from "./model-name.ts";

it.each([
  ["Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"],
  ["Qwen/Qwen3-0.6B@main", "Qwen/Qwen3-0.6B@main"],
  ["builtin:shop-tiny", "builtin:shop-tiny"],
  ["coin", "coin"],
  ["/home/me/models/Qwen3-0.6B", "Qwen3-0.6B"],
  ["/home/me/models/Qwen3-0.6B/", "Qwen3-0.6B"],
  ["./smol.Q8_0.gguf", "smol.Q8_0"],
  ["../models/x", "x"],
  ["/home/me/runs/shop", "shop"],
  ["/home/me/runs/shop/checkpoints/000010", "shop"],
  ["/home/me/runs/shop/checkpoints/000010/weights", "shop"],
  ["/", "policy"],
])("%s is called %s", (name, short) => {
  expect(shortModelName(name)).toBe(short);
});

it("takes for a path what is on the disk", () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-name-"));
  mkdirSync(join(folder, "mine"));
  expect(shortModelName(relative(process.cwd(), join(folder, "mine")))).toBe("mine");
});
