/** A folder for files of one run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder extends Disposable {
  readonly path: string;
}

/** Removed when disposed of, and in any case when the process exits. */
export function createTempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), "agent-trainer-bench-"));
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true });
  };
  process.once("exit", remove);
  return {
    path,
    [Symbol.dispose]() {
      process.removeListener("exit", remove);
      remove();
    },
  };
}
