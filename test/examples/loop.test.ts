/** `examples/loop.ts` as users run it: a GRPO run by hand on the public parts. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../docs/pages.ts";

it("raises the reward of the built-in model by hand", () => {
  const conditions = "--conditions=agent-trainer-source";
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--import", "tsx", conditions, join(root, "examples", "loop.ts")],
    { cwd: root, encoding: "utf8", timeout: 170_000 },
  );
  expect(status).toBe(0);
  const rewards = stdout
    .trim()
    .split("\n")
    .map((line) => Number(line.split(" ")[1]));
  expect(rewards).toHaveLength(12);
  expect(rewards[0]).toBeLessThan(0.7);
  expect(rewards.at(-1)).toBeGreaterThan(0.9);
});
