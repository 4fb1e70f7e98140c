/**
 * The conformance suite on its own.
 *
 *   npm run conformance [-- --json] [-- --only TEXT]
 */
import { runCases } from "./run.ts";

const args = process.argv.slice(2);
const onlyAt = args.indexOf("--only");
const report = await runCases(onlyAt === -1 ? "" : (args[onlyAt + 1] ?? ""));
if (args.includes("--json")) console.log(JSON.stringify(report, null, 2));
else {
  for (const { name, error } of report.failed) console.log(`FAILED ${name}\n  ${error}`);
  for (const { name, reason } of report.skipped) console.log(`skipped ${name}: ${reason}`);
  for (const [client, count] of Object.entries(report.clients)) console.log(`${client}: ${count}`);
  const { cases, passed, failed, skipped } = report;
  console.log(
    `${cases} cases: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  );
}
// Clients keep idle sockets, which would hold the process.
process.exit(report.failed.length > 0 ? 1 : 0);
