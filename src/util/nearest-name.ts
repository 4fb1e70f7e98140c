/** The closest of the known names, for "did you mean" hints. */
import { closest, distance } from "fastest-levenshtein";

/** `undefined` when nothing is close enough to be a likely typo. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const best = closest(name, known);
  return distance(name, best) <= Math.max(2, Math.floor(name.length / 3)) ? best : undefined;
}
