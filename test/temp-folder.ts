/** Everything that tests write into the folder for temporary files goes into one, which goes with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string | undefined;

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), "agent-trainer-tests-"));
  // Workers are started later and inherit it.
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = folder;
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
