/** Options that are not the same in all runs, as the page names them. */
import type { RunsApart } from "../api/comparisons.ts";

export interface DifferingOption {
  readonly key: string;
  /** The part of it that says what it is: `loss` of `algorithm.loss.type`. */
  readonly name: string;
  readonly value: string;
}

const isSeed = (name: string): boolean => /(?:^|_)seed$/u.test(name);

function shortName(key: string): string {
  const parts = key.split(".");
  const last = parts.at(-1)!;
  return (last === "type" || last === "name") && parts.length > 1 ? parts.at(-2)! : last;
}

/** A string without its quotes, anything else as JSON. */
function shownValue(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}

/** Those that the run has a value of. @param at its key */
export function differingOptions(
  apart: RunsApart,
  at: number,
  withSeeds = true,
): readonly DifferingOption[] {
  return apart.options.flatMap(({ key, values }) => {
    const json = values[at] ?? null;
    const name = shortName(key);
    if (json === null || (!withSeeds && isSeed(name))) return [];
    return [{ key, name, value: shownValue(json) }];
  });
}
