/** The bridge's own tests, in Python. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { hasPython } from "./fake-bridge.ts";

const folder = fileURLToPath(new URL("../../python/", import.meta.url));

it.skipIf(!hasPython)("passes its own tests", () => {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  const { status, stderr } = spawnSync(
    "python3",
    ["-m", "unittest", "discover", "-t", ".", "-s", "tests"],
    {
      cwd: folder,
      encoding: "utf8",
      env,
    },
  );
  expect(stderr).toMatch(/Ran \d\d+ tests/u);
  expect(status, stderr).toBe(0);
});
