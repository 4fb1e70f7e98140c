/** Shows the progress of a download or export: a line rewritten in place, or one line per 10 %. */
import type { PullProgress } from "../../backends/local/index.ts";
import { createLiveLine, type ProgressOptions } from "./live-line.ts";
import { duration } from "./progress.ts";
import { safeText, type TextStream } from "./terminal.ts";

export interface ByteProgress {
  report(what: string, done: number, total: number): void;
  /** Writes a warning above the live line. */
  warn(message: string): void;
  /** Clears the live line. */
  clear(): void;
}

const redrawMs = 100;

/** "12.3 MB": decimal units, as hubs count. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`;
}

export function createByteProgress(options: ProgressOptions): ByteProgress {
  const { stream, isQuiet, now = Date.now } = options;
  const live = createLiveLine(options);
  let redrawnAt = -Infinity;
  let tenth = -1;
  /** When the first bytes were reported, and how many were there before. */
  let first: { readonly at: number; readonly bytes: number } | null = null;

  /** How fast it goes, and how long it will take; nothing before that is known. */
  function speed(done: number, total: number, at: number): string[] {
    first ??= { at, bytes: done };
    const seconds = (at - first.at) / 1000;
    const bytes = done - first.bytes;
    if (seconds <= 0 || bytes <= 0 || done >= total) return [];
    const perSecond = bytes / seconds;
    return [
      `${formatBytes(Math.round(perSecond))}/s`,
      `${duration((total - done) / perSecond)} left`,
    ];
  }

  return {
    report(what, done, total) {
      if (isQuiet || total <= 0) return;
      const share = done / total;
      const at = now();
      const parts = [
        `${Math.floor(share * 100)} % of ${formatBytes(total)}`,
        safeText(what),
        ...speed(done, total, at),
      ];
      if (!live.isLive) {
        if (Math.floor(share * 10) <= tenth) return;
        tenth = Math.floor(share * 10);
        stream.write(`${parts.join("  ")}\n`);
      } else if (at - redrawnAt >= redrawMs) {
        redrawnAt = at;
        live.show(parts);
      }
    },
    warn: live.warn,
    clear: live.clear,
  };
}

/** Shows the download of a model that a backend starts with. */
export function createPullProgress(stream: TextStream): (progress: PullProgress) => void {
  const progress = createByteProgress({ stream, isQuiet: false });
  return ({ file, doneBytes, totalBytes }) => {
    progress.report(file, doneBytes, totalBytes);
    if (doneBytes === totalBytes) progress.clear();
  };
}
