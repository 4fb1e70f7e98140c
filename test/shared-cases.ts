/** Inputs from public reports, kept beside the repository where they are at hand. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of `path` in the folder of shared cases; null where there is none, and the test is to be skipped. */
export function sharedCases(path: string): string | null {
  for (const folder of ["../../shared/cases/", "../../../shared/cases/"]) {
    const file = fileURLToPath(new URL(folder + path, import.meta.url));
    if (existsSync(file)) return file;
  }
  return null;
}
