/** Finding stop strings in growing text. */

/** Where the first stop string begins in `text`, looking from `from` on; -1 when there is none. */
export function findStop(text: string, stops: readonly string[], from = 0): number {
  let first = -1;
  for (const stop of stops) {
    const at = text.indexOf(stop, from);
    if (at !== -1 && (first === -1 || at < first)) first = at;
  }
  return first;
}

/** The stop string that `text` meets first. */
export function firstStop(text: string, stops: readonly string[]): string | undefined {
  const at = findStop(text, stops);
  return at === -1 ? undefined : stops.find((stop) => text.startsWith(stop, at));
}

/** `text` up to its first stop string. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const at = findStop(text, stops);
  return at === -1 ? text : text.slice(0, at);
}

/** Length of the longest end of `text` with which a stop string could begin. */
export function partialStopLength(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let n = Math.min(stop.length - 1, text.length); n > longest; n--) {
      if (text.endsWith(stop.slice(0, n))) longest = n;
    }
  }
  return longest;
}

/** Length of the longest of them; 0 when there are none. */
export function maxStopLength(stops: readonly string[]): number {
  return stops.reduce((longest, stop) => Math.max(longest, stop.length), 0);
}
