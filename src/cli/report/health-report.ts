/** A finding of health in lines: first what it is and how bad, then what shows it, what to do, and where to read. */
import type { HealthFinding, RunFinding } from "../../core/health.ts";
import { type Colors, safeText } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** Without what says when. */
const findingTitle = ({ name, severity }: HealthFinding): string => `${severity}: ${name}`;

/** Below the title, to be indented. */
function findingDetails({ evidence, advice, doc }: HealthFinding): readonly string[] {
  return [`${evidence}.`, advice, doc];
}

/** As a run shows it when it finds it. */
export function formatFinding(
  finding: HealthFinding,
  colors: Colors,
  columns: number | undefined,
): string {
  const paint = finding.severity === "problem" ? colors.red : colors.yellow;
  const details = findingDetails(finding).map((line) => wrapText(`  ${safeText(line)}`, columns));
  return [`${paint("health:")} ${findingTitle(finding)}`, ...details].join("\n");
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
