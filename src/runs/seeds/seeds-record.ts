/** `seeds.json` in a folder of runs that differ in their seed: the options that all of them have. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../../config/camel-keys.ts";
import { ConfigError } from "../../core/errors.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";

const fileName = "seeds.json";
const format = "agent-trainer/seeds/1";

/** What folders had before, where runs also differed in other options. */
const earlierName = "sweep.json";

/** Whether a folder is one of several seeds, with a run for each. */
export const holdsSeeds = (folder: string): boolean =>
  [fileName, earlierName].some((name) => existsSync(join(folder, name)));

/** Without secrets; null where there is no record. @throws ConfigError for a file of another kind. */
export function readSeedsOptions(folder: string): Tree | null {
  const path = join(folder, fileName);
  if (!existsSync(path)) return null;
  try {
    const read = JSON.parse(readFileSync(path, "utf8")) as { format?: unknown; options: Tree };
    if (read.format !== format) throw new Error(`its format is ${JSON.stringify(read.format)}`);
    return read.options;
  } catch (cause) {
    throw new ConfigError({
      message: `${path} cannot be read: ${(cause as Error).message}.`,
      hint: "Restore the file, or choose another folder for the runs.",
      cause,
      fields: { path },
    });
  }
}

export function writeSeedsOptions(folder: string, options: Tree): void {
  writeFileAtomicSync(join(folder, fileName), `${JSON.stringify({ format, options }, null, 2)}\n`);
}
