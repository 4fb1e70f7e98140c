/** rLLM's compact filtering, a switch for each termination reason, as `algorithm.excluded_reasons`. */
import type { TerminationReason } from "../../core/trajectory.ts";
import type { Renamed } from "./keys/key-kinds.ts";

const option = "algorithm.excluded_reasons";
const section = "compact_filtering";
const switchKey = `${section}.enable`;

/** Whether rLLM excludes rollouts that ended so, where its filtering is on and nothing else is said. */
const masked = {
  max_prompt_length_exceeded: true,
  max_response_length_exceeded: true,
  env_done: false,
  max_turns_exceeded: true,
  timeout: true,
  unknown: false,
  error: true,
} satisfies Partial<Record<TerminationReason, boolean>>;

const maskOf = (reason: string): string => `${section}.mask_${reason}`;

export const compactFilteringKeys: readonly Renamed[] = [
  switchKey,
  ...Object.keys(masked).map(maskOf),
].map((from) => ({ from, to: option, gathered: true }));

/** What the keys of the section together are here. */
export interface Filtering {
  /** null where the section says nothing. */
  readonly reasons: readonly string[] | null;
  /** Keys that have no effect, since the filtering is off. */
  readonly idle: readonly string[];
  readonly problems: readonly string[];
}

/** @param given Values of the section's keys. */
export function filteringOf(given: ReadonlyMap<string, unknown>): Filtering {
  const problems = [...given].flatMap(([key, value]) =>
    typeof value === "boolean" || value === null
      ? []
      : [`${key} must be true or false; got ${JSON.stringify(value)}.`],
  );
  const isMasked = ([reason, usual]: readonly [string, boolean]): boolean =>
    given.get(maskOf(reason)) === undefined ? usual : given.get(maskOf(reason)) === true;
  const isOn = given.get(switchKey) === true;
  const reasons = Object.entries(masked).flatMap((each) => (isMasked(each) ? [each[0]] : []));
  const changed = Object.entries(masked).filter((each) => isMasked(each) !== each[1]);
  return {
    reasons: isOn ? reasons : given.get(switchKey) === false ? [] : null,
    idle: isOn ? [] : changed.map(([reason]) => maskOf(reason)),
    problems,
  };
}
