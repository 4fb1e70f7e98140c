/** Reads files of a folder that a program which is not trusted has written to: no links, no devices, bounded. */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import nodePath, { join, relative, sep, type PlatformPath } from "node:path";

/** Does not look at the disk, so links are not followed. @param path those of another system, for tests. @default those of this system */
export function isInside(folder: string, file: string, path: PlatformPath = nodePath): boolean {
  const way = path.relative(folder, file);
  // From one drive of Windows to another there is no relative path.
  return way !== "" && !path.isAbsolute(way) && way.split(path.sep)[0] !== "..";
}

// Windows has no such flags: there, `isPlainPath` alone finds links.
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const pieceBytes = 65_536;

/** What a file is: its bytes, or why there are none. */
export type ReadInside = Buffer | "missing" | "too large";

/**
 * The bytes of the regular file `path` below `folder`, of `maxBytes` at most. A link in any part of the path,
 * a device, a pipe, and a file that is not there are all "missing".
 */
export async function readInside(
  folder: string,
  path: string,
  maxBytes: number,
): Promise<ReadInside> {
  const root = await realpath(folder).catch(() => folder);
  const file = join(root, path);
  if (!isInside(root, file)) return "missing";
  let handle: FileHandle;
  try {
    // The last part is no link, and a pipe without a writer does not wait for one.
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return "missing";
  }
  try {
    const opened = await handle.stat({ bigint: true });
    if (!opened.isFile() || !(await isPlainPath(root, relative(root, file), opened)))
      return "missing";
    return await readUpTo(handle, maxBytes);
  } finally {
    await handle.close();
  }
}

/** Whether the open file is the one that `path` has without any link on the way; it may be exchanged meanwhile. */
async function isPlainPath(
  root: string,
  path: string,
  opened: { readonly dev: bigint; readonly ino: bigint },
): Promise<boolean> {
  let at = root;
  for (const part of path.split(sep)) {
    at = join(at, part);
    const found = await lstat(at, { bigint: true }).catch(() => null);
    if (found === null || found.isSymbolicLink()) return false;
    if (found.isFile()) return found.dev === opened.dev && found.ino === opened.ino;
  }
  return false;
}

/** Not by the size that the file has: it may grow while it is read. */
async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer | "too large"> {
  const pieces: Buffer[] = [];
  for (let size = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(pieceBytes));
    if (bytesRead === 0) return Buffer.concat(pieces);
    size += bytesRead;
    if (size > maxBytes) return "too large";
    pieces.push(buffer.subarray(0, bytesRead));
  }
}
