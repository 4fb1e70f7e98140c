/** `agent-trainer rescore`: another evaluator for recorded episodes, without a model call. */
import type { Evaluator } from "../../core/agent.ts";
import { rescore, type RescoreResult, type Verdict } from "../../launch/evaluate/rescore.ts";
import { loadExport } from "../../launch/load-module.ts";
import { formatEvaluation } from "../report/evaluation-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { createLateErrors } from "../terminal/process-end.ts";
import { safeText } from "../terminal/terminal.ts";

export interface RescoreFlags {
  readonly evaluator: string;
  readonly output?: string;
  readonly json?: boolean;
}

/** At most this many changed verdicts. */
const mostChanged = 20;

const shown = ({ reward, isCorrect }: Verdict): string =>
  `${reward ?? "no score"}${isCorrect === null ? "" : isCorrect ? " (correct)" : " (incorrect)"}`;

function formatRescored({ before, summary, changed, folder }: RescoreResult): string {
  const more = changed.length - mostChanged;
  const mean = (reward: { readonly mean: number } | null): string =>
    reward === null ? "-" : reward.mean.toFixed(3);
  const lines = [
    formatEvaluation(summary).trimEnd(),
    "",
    `mean reward ${mean(before.reward)} -> ${mean(summary.reward)}; ${changed.length} of ${summary.rollouts} verdicts changed`,
    ...changed
      .slice(0, mostChanged)
      .map(
        (each) => `  ${safeText(each.episodeId)}: ${shown(each.before)} -> ${shown(each.after)}`,
      ),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
    ...(folder === null ? [] : [`results: ${folder}`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Runs the command; resolves with the exit status. */
export async function rescoreCommand(
  folder: string,
  flags: RescoreFlags,
  io: CliIo,
): Promise<number> {
  const { output, json } = flags;
  const evaluator = await loadExport({
    spec: flags.evaluator,
    folder: process.cwd(),
    option: "--evaluator",
    defaults: ["evaluator", "default"],
  });
  using late = createLateErrors(io.stderr);
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping. Press Ctrl-C again to quit immediately.\n");
  });
  try {
    const { items: _items, ...result } = await rescore({
      episodes: folder,
      evaluator: evaluator as Evaluator,
      signal: interrupt.signal,
      ...(output === undefined ? {} : { folder: output }),
    });
    for (const warning of result.warnings) io.stderr.write(`warning: ${safeText(warning)}\n`);
    io.stdout.write(
      json === true ? `${JSON.stringify(result)}\n` : formatRescored({ ...result, items: [] }),
    );
    return exitCodes.done;
  } catch (error) {
    if (interrupt.signal.aborted && error === interrupt.signal.reason) return exitCodes.interrupted;
    throw error;
  } finally {
    late.watch();
  }
}
