/** A finding of health in lines: first what it is and how bad, then what shows it, what to do, and where to read. */
import type { HealthFinding, RunFinding } from "../../core/health.ts";

/** Without what says when. */
export const findingTitle = ({ name, severity }: HealthFinding): string => `${severity}: ${name}`;

/** Below the title, to be indented. */
export function findingDetails({ evidence, advice, doc }: HealthFinding): readonly string[] {
  return [`${evidence}.`, advice, doc];
}

/** As `runs show` lists them: with when, and the values of the options that are often the cause. */
export function recordedFindingLines(found: RunFinding): readonly string[] {
  const { isCurrent, warnedAt, options } = found;
  const when = isCurrent ? "" : ` (earlier, at step ${warnedAt})`;
  const given = Object.entries(options).map(([key, value]) => `${key}=${value}`);
  const [evidence = "", ...others] = findingDetails(found);
  const details = [evidence, ...(given.length === 0 ? [] : [given.join(", ")]), ...others];
  return [`${findingTitle(found)}${when}`, ...details.map((line) => `  ${line}`)];
}
