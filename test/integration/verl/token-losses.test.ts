/** The bridge's losses in torch, held in Python to those of the verl that is installed. */
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../root.ts";
import { python } from "./verl-on-cpu.ts";

const folder = join(import.meta.dirname, "python");

it("are verl's", () => {
  const PYTHONPATH = [folder, join(root, "python")].join(delimiter);
  const { status, stderr } = spawnSync(python(), ["-m", "unittest", "test_token_losses"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" },
  });
  expect(stderr).toMatch(/Ran \d tests/u);
  expect(status, stderr).toBe(0);
});
