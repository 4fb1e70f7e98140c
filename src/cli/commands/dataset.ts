/** `agent-trainer dataset inspect`: what a dataset holds, and whether every row can be used. */
import { fieldsOf } from "../../launch/dataset-options.ts";
import { inspectDataset } from "../../launch/inspect-dataset.ts";
import { formatDatasetReport } from "../report/format-dataset-report.ts";
import { createByteProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { defined } from "../../util/defined.ts";

export interface InspectFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly field?: readonly string[];
  readonly limit?: number;
  readonly examples: number;
}

/** Resolves with 1 when some rows cannot be used, or there are none. */
export async function inspectDatasetCommand(
  source: string,
  flags: InspectFlags,
  io: CliIo,
): Promise<number> {
  using interrupt = watchInterrupt(() => io.stderr.write("Stopping.\n"));
  const progress = createByteProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const report = await inspectDataset(source, {
    fields: fieldsOf(flags.field ?? []),
    examples: flags.examples,
    option: "The argument",
    signal: interrupt.signal,
    onDownload: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
    ...defined({ limit: flags.limit }),
  }).finally(() => progress.clear());
  io.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ dataset: source, ...report })}\n`
      : formatDatasetReport(source, report, io),
  );
  return report.badRows > 0 || report.tasks === 0 ? exitCodes.failed : exitCodes.done;
}
