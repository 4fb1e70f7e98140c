/** Everything that tests write into the folder for temporary files goes into one, which goes with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const prefix = "agent-trainer-tests-";

let folder: string | undefined;

/** Called for each project. One folder serves all: in nested ones the paths of sockets become longer than 107 bytes. */
export function setup(): void {
  if (basename(tmpdir()).startsWith(prefix)) return;
  folder = mkdtempSync(join(tmpdir(), prefix));
  // Workers are started later and inherit it.
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = folder;
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
