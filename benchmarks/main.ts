/**
 * Measures this library and says how it stands against its goals.
 *
 *   npm run bench -- NAME [--json] [--save] [--quick] [--repetitions N] [--seeds N]
 */
import { ConfigError } from "../src/core/errors.ts";
import { parseArguments } from "./arguments.ts";
import { benchmarks } from "./catalog.ts";
import { usage } from "./harness/usage.ts";
import { makeReport, type Report, saveReport } from "./harness/report.ts";
import { reportTable } from "./harness/table.ts";

const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  const command = parseArguments(args, benchmarks);
  if (command.kind === "help") {
    process.stdout.write(usage(benchmarks));
    return 0;
  }
  const { benchmark, options, isJson, isSaved } = command;
  log(`${benchmark.name}: ${benchmark.summary}`);
  const peerVersions = await benchmark.peerVersions?.();
  const results = await benchmark.run(options, log);
  const report: Report = await makeReport(benchmark.name, options, results, peerVersions);
  log(`\n${reportTable(report)}`);
  if (isSaved) log(`saved to ${await saveReport(report)}`);
  if (isJson) process.stdout.write(`${JSON.stringify(report)}\n`);
  return 0;
}

// By way of `exit`, so that folders made for the run are removed.
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  log(`${error.message}${error.hint === undefined ? "" : `\n${error.hint}`}`);
  process.exitCode = 2;
}
