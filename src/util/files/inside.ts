/** Whether a path stays in a folder, on every system. Does not look at the disk: links are for `read-inside.ts`. */
import nodePath, { type PlatformPath } from "node:path";

/** @param path those of another system, for tests. @default those of this system */
export function isInside(folder: string, file: string, path: PlatformPath = nodePath): boolean {
  const way = path.relative(folder, file);
  // From one drive of Windows to another there is no relative path.
  return way !== "" && !path.isAbsolute(way) && way.split(path.sep)[0] !== "..";
}
