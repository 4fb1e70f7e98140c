/**
 * Renames that wait for readers. Windows refuses to rename, or to replace, what another program has open:
 * the viewer, a virus scanner, an indexer. They let go within moments.
 */
import { renameSync as renameOnceSync } from "node:fs";
import { rename as renameOnce } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

const busyCodes = new Set(["EPERM", "EACCES", "EBUSY"]);
/** Some five seconds in all. */
const waitsMs: readonly number[] = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560];

const isBusy = (error: unknown, platform: NodeJS.Platform): boolean =>
  platform === "win32" && busyCodes.has((error as NodeJS.ErrnoException).code ?? "");

/** Tries again while Windows says that a file is in use. */
export async function whileBusy<T>(
  action: () => Promise<T>,
  platform: NodeJS.Platform = process.platform,
): Promise<T> {
  for (const waitMs of waitsMs) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error, platform)) throw error;
      await setTimeout(waitMs);
    }
  }
  return action();
}

/** As `whileBusy`; the thread sleeps. */
export function whileBusySync<T>(action: () => T, platform: NodeJS.Platform = process.platform): T {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (const waitMs of waitsMs) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error, platform)) throw error;
      Atomics.wait(clock, 0, 0, waitMs);
    }
  }
  return action();
}

export const rename = (from: string, to: string): Promise<void> =>
  whileBusy(() => renameOnce(from, to));

export const renameSync = (from: string, to: string): void =>
  whileBusySync(() => renameOnceSync(from, to));
