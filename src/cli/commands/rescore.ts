/** `agent-trainer rescore`: another evaluator for recorded episodes, without a model call. */
import type { Evaluator } from "../../core/agent.ts";
import { rescore, type RescoreResult, type Verdict } from "../../launch/evaluate/rescore.ts";
import { loadExport } from "../../launch/load-module.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { formatEvaluation } from "../report/evaluation-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { safeText } from "../terminal/terminal.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
Examples:
  $ agent-trainer rescore runs/shop --evaluator stricter.ts#evaluator
  $ agent-trainer rescore evals/before --evaluator stricter.ts --output evals/before-stricter
`;

/** At most this many changed verdicts. */
const maxChanged = 20;

const shown = ({ reward, isCorrect }: Verdict): string =>
  `${reward ?? "no score"}${isCorrect === null ? "" : isCorrect ? " (correct)" : " (incorrect)"}`;

function formatRescored({ before, summary, changed, folder }: RescoreResult): string {
  const more = changed.length - maxChanged;
  const mean = (reward: { readonly mean: number } | null): string =>
    reward === null ? "-" : reward.mean.toFixed(3);
  const lines = [
    formatEvaluation(summary).trimEnd(),
    "",
    `mean reward ${mean(before.reward)} -> ${mean(summary.reward)}; ${changed.length} of ${summary.rollouts} verdicts changed`,
    ...changed
      .slice(0, maxChanged)
      .map(
        (each) => `  ${safeText(each.episodeId)}: ${shown(each.before)} -> ${shown(each.after)}`,
      ),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
    ...(folder === null ? [] : [`results: ${folder}`]),
  ];
  return `${lines.join("\n")}\n`;
}

export const command: CliCommand = defineCommand({
  flags: (scored) =>
    scored
      .argument("<folder>", "folder of a run or of an evaluation")
      .requiredOption("--evaluator <module>", "evaluator as path#export")
      .option("--output <folder>", "folder to record the new scores in, for compare"),
  help,
  async run([folder], { evaluator: given, output, json = false }, io) {
    const evaluator = await loadExport({
      spec: given,
      folder: process.cwd(),
      option: "--evaluator",
      defaults: ["evaluator", "default"],
    });
    using late = createLateErrors(io.stderr);
    using interrupt = watchInterrupt(io, "Stopping. Press Ctrl-C again to quit immediately.");
    try {
      const { items: _items, ...result } = await rescore({
        episodes: folder,
        evaluator: evaluator as Evaluator,
        signal: interrupt.signal,
        ...defined({ folder: output }),
      });
      for (const warning of result.warnings) io.stderr.write(`warning: ${safeText(warning)}\n`);
      writeResult(io, json, result, formatRescored({ ...result, items: [] }));
      return exitCodes.done;
    } catch (error) {
      if (interrupt.signal.aborted && error === interrupt.signal.reason)
        return exitCodes.interrupted;
      throw error;
    } finally {
      late.watch();
    }
  },
});
