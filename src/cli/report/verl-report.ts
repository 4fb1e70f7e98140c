/** A Python environment with verl in the terminal. */
import type { VerlReport } from "../load/verl-environment.ts";
import type { CliIo } from "../terminal/io.ts";

/** What an environment contains, and what is missing. */
export function writeVerlReport(report: VerlReport, isJson: boolean, { stdout }: CliIo): void {
  if (isJson) {
    stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const versions = Object.entries(report.packages).map(
    ([name, version]) => `${name} ${version ?? "-"}`,
  );
  stdout.write(`Python ${report.version ?? "-"} (${report.python})\n`);
  if (versions.length > 0) stdout.write(`${versions.join(", ")}\n`);
  for (const problem of report.problems) stdout.write(`- ${problem}\n`);
}
