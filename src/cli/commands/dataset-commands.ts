/** Flags and help of `agent-trainer dataset`; the command is in `dataset.ts`, loaded on demand. */
import { type Command, InvalidArgumentError } from "commander";
import type { CliIo } from "../terminal/io.ts";
import type { InspectFlags } from "./dataset.ts";
import type { MakeCommand } from "./model-commands.ts";

const inspectHelp = `
A DATASET is a .jsonl, .json, .csv, .tsv or .parquet file, or path#export of a module.

Examples:
  $ agent-trainer dataset inspect train.jsonl
  $ agent-trainer dataset inspect train.parquet --field instruction=prompt.0.content
  $ agent-trainer dataset inspect train.csv --json

Exit status: 0 when every row can be used, 1 when some cannot, 2 when the dataset cannot be read.
`;

function atLeastOne(text: string): number {
  const value = Number(text);
  if (/^\d+$/u.test(text) && value >= 1) return value;
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
}

function fieldPair(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[^=]+=.+$/u.test(text)) return [...before, text];
  throw new InvalidArgumentError("It must be NAME=FIELD, as in instruction=question.");
}

export function addDatasetCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const group = program
    .command("dataset")
    .description("inspect datasets")
    .addHelpText("after", "\nExamples:\n  $ agent-trainer dataset inspect train.jsonl\n");
  command(
    group,
    "inspect",
    "show the fields and types of a dataset's rows, bad rows with their lines, and duplicates",
  )
    .argument("<dataset>")
    .option(
      "--field <name=field>",
      "read a field of the task from this field of the rows, as dataset.fields does; repeat the flag for several",
      fieldPair,
    )
    .option("--limit <n>", "read this many rows at most (default: all)", atLeastOne)
    .option("--examples <n>", "examples of tasks, bad rows and duplicates to show", atLeastOne, 3)
    .addHelpText("after", inspectHelp)
    .action(async (dataset: string, flags: InspectFlags) => {
      const { inspectDatasetCommand } = await import("./dataset.ts");
      onExit(await inspectDatasetCommand(dataset, flags, io));
    });
}
