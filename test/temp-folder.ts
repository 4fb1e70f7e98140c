/** Everything that tests write into the folder for temporary files goes into one, which goes with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-tests-"));
  // Workers are started later and inherit it.
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
