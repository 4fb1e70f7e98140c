/** `agent-trainer model inspect`: what a model is, and whether it can be trained. */
import { type CliCommand, defineCommand } from "../define-command.ts";
import { adapterHelp, withModel } from "../load/with-model.ts";
import { formatReport } from "../report/format-model-report.ts";
import { reportModel } from "../report/model-report.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { writeResult } from "../terminal/io.ts";

/** Resolves with 1 when the local backend cannot use it. */
export const command: CliCommand = defineCommand({
  flags: (inspect) =>
    inspect
      .argument("<model>")
      .option("--base <model>", "base model of an adapter (default: the one the adapter names)")
      .option("--adapter <name>", adapterHelp),
  run: ([spec], flags, io) =>
    withModel(spec, flags, io, async (model) => {
      const report = await reportModel(model);
      writeResult(io, flags.json, report, formatReport(report, io));
      return report.problems.length === 0 ? exitCodes.done : exitCodes.failed;
    }),
});
