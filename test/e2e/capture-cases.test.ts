/** Every input of the shared cases of capture, templates, calls and requests, against the built package. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { sharedCases } from "../shared-cases.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = sharedCases("capture/run.mjs");

it.skipIf(program === null)("reads and writes each of them as it should", async () => {
  const run = promisify(execFile)(process.execPath, [program!, root], { maxBuffer: 2 ** 24 });
  const { stdout } = await run.catch((error: unknown) => error as { readonly stdout: string });
  const lines = stdout.trim().split("\n");
  expect(lines.filter((line) => line.startsWith("FAIL"))).toEqual([]);
  expect(lines.at(-1)).toMatch(/^[1-9]\d* passed, 0 failed$/u);
});
