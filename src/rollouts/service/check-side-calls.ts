/** A rule that `rollout.side_calls` names and no agent has would exclude nothing, in silence. */
import { ConfigError } from "../../core/errors.ts";
import type { SideCallRule, SideCallUse } from "../../core/side-call.ts";
import { nearestName } from "../../util/nearest-name.ts";

/** @throws ConfigError for a rule that is not among `rules`. */
export function checkSideCalls(use: SideCallUse, rules: readonly SideCallRule[] = []): void {
  if (typeof use === "string") return;
  const known = [...new Set(rules.map(({ name }) => name))];
  const unknown = use.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  throw new ConfigError({
    message: `rollout.side_calls names the rule ${unknown}, but the agent has ${known.length === 0 ? "no rules" : known.join(", ")}.`,
    hint:
      known.length === 0
        ? "Give the agent rules (sideCalls), or leave the option out."
        : nearest === undefined
          ? "Name one of its rules, or exclude for all of them."
          : `Is it ${nearest}?`,
    fields: { unknown, known },
  });
}
