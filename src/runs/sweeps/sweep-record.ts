/** `sweep.json` in the folder of a sweep: what became of its runs, and how long they took. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../../config/camel-keys.ts";
import { ConfigError } from "../../core/errors.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";

const fileName = "sweep.json";
const format = "agent-trainer/sweep/1";

export interface SweepRecord {
  /** On the clock, of all processes. */
  readonly minutes: number;
  /** Why runs failed, by their names. A run that failed to start has no folder that says so. */
  readonly failed: Readonly<Record<string, string>>;
  /** The options that all runs have, without secrets. */
  readonly options: Tree;
}

export const isSweep = (folder: string): boolean => existsSync(join(folder, fileName));

/** Null where there is none. @throws ConfigError for a file of another kind. */
export function readSweep(folder: string): SweepRecord | null {
  const path = join(folder, fileName);
  if (!existsSync(path)) return null;
  try {
    const read = JSON.parse(readFileSync(path, "utf8")) as SweepRecord & { format?: unknown };
    if (read.format !== format) throw new Error(`its format is ${JSON.stringify(read.format)}`);
    return { minutes: read.minutes, failed: read.failed, options: read.options };
  } catch (cause) {
    throw new ConfigError({
      message: `${path} cannot be read: ${(cause as Error).message}.`,
      hint: "Restore the file, or choose another name for the sweep.",
      cause,
      fields: { path },
    });
  }
}

export function writeSweep(folder: string, record: SweepRecord): void {
  writeFileAtomicSync(
    join(folder, fileName),
    `${JSON.stringify({ format, ...record }, null, 2)}\n`,
  );
}
