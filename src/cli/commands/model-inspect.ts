/** `agent-trainer model inspect`: what a model is, and whether it can be trained. */
import { type CliCommand, defineCommand } from "../define-command.ts";
import { adapterHelp, withModel } from "../load/with-model.ts";
import { reportModel, type ModelReport } from "../report/model-report.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { writeResult, type CliIo } from "../terminal/io.ts";
import { formatBytes } from "../terminal/byte-progress.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";

/** "134.5 million" */
function count(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} billion`;
  return value >= 1e6 ? `${(value / 1e6).toFixed(1)} million` : String(value);
}

/** Formats a model report for the terminal. */
function formatReport(report: ModelReport, io: CliIo): string {
  const colors = colorsFor(io.stdout);
  const row = (name: string, value: string): string => `${name.padEnd(14)} ${safeText(value)}`;
  const { shape, memory, tokenizer } = report;
  const types = Object.entries(report.types).map(([type, number]) => `${number} ${type}`);
  const rows = [
    row("model", report.path),
    ...(report.adapter === null ? [] : [row("adapter", report.adapter)]),
    row("format", `${report.format}: ${types.join(", ")}`),
    row("architecture", report.architecture),
    row("parameters", `${count(report.parameters)}, ${formatBytes(report.bytesOnDisk)} on disk`),
  ];
  if (shape !== null) {
    const heads =
      shape.heads === shape.kvHeads
        ? `${shape.heads} heads`
        : `${shape.heads} query heads, ${shape.kvHeads} key/value heads`;
    rows.push(
      row(
        "shape",
        `${shape.layers} layers, hidden size ${shape.hiddenSize}, ${heads} of size ${shape.headSize}, feed-forward ${shape.ffnSize}, output matrix ${shape.tiedEmbeddings ? "tied" : "separate"}`,
      ),
      row("context", `${shape.contextLength} tokens`),
    );
  }
  if (tokenizer !== null)
    rows.push(row("tokenizer", `${tokenizer.kind}, ${tokenizer.tokens} tokens`));
  if (report.renderer !== null) rows.push(row("chat template", `rendered by ${report.renderer}`));
  if (memory !== null) {
    const { sampling, lora, full, cachePerThousandTokens: cache } = memory;
    rows.push(
      row(
        "memory",
        `about ${sampling} MiB to sample, ${lora} to train LoRA, ${full} to train all weights`,
      ),
      row("", `and ${cache} MiB per thousand tokens in the KV cache`),
    );
  }
  const verdict =
    report.problems.length === 0
      ? [colors.green("The local backend can train it.")]
      : report.problems.map((problem) => `${colors.red("problem:")} ${safeText(problem)}`);
  return [...rows, ...verdict, ""].join("\n");
}

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
