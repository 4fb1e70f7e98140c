/** Flags and help of `sft` and `dpo`; the command is loaded on demand. */
import { type Command, InvalidArgumentError } from "commander";
import type { CliIo } from "../terminal/io.ts";
import type { FineTuneFlags } from "./fine-tune.ts";
import type { MakeCommand } from "./model-commands.ts";

const sftHelp = `
Examples:
  $ agent-trainer sft shop.yaml --train conversations.jsonl
  $ agent-trainer sft shop.yaml --train conversations.jsonl --preview
  $ agent-trainer sft shop.yaml --from-run runs/shop --min-reward 1 trainer.total_epochs=2
  $ agent-trainer sft shop.yaml --train a.jsonl --val b.jsonl trainer.test_freq=10 fine_tuning.patience=3
  $ agent-trainer sft shop.yaml --train conversations.jsonl --resume runs/shop-sft
  $ agent-trainer train shop.yaml model.name=runs/shop-sft

Each row is a conversation with tools as in OpenAI's API: {"messages": [...], "tools": [...]}.
Options are those of model, fine_tuning, training, trainer, data.train_batch_size and the backend.
`;

const dpoHelp = `
Examples:
  $ agent-trainer dpo shop.yaml --train pairs.jsonl
  $ agent-trainer dpo shop.yaml --from-run runs/shop fine_tuning.loss.beta=0.2
  $ agent-trainer dpo shop.yaml --train pairs.jsonl --preview 1

Each row is a pair: {"prompt": [...], "chosen": [...], "rejected": [...]}, or OpenAI's
{"input": {"messages": [...]}, "preferred_output": [...], "non_preferred_output": [...]}.
`;

function realNumber(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number.");
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/u.test(text) && value >= least && value < 2 ** 32) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };
}

function withFlags(command: Command): Command {
  return command
    .argument("<config>", "YAML file with the model and the options of training")
    .argument("[overrides...]", "key=value pairs that override options of the file")
    .option("--train <file>", "examples to train on; the same as fine_tuning.train=file")
    .option("--val <file>", "held-out examples; the same as fine_tuning.val=file")
    .option(
      "--from-run <folder>",
      "train on recorded episodes of this run or evaluation, with the tokens that were captured",
    )
    .option("--min-reward <x>", "with --from-run: minimum reward of an episode", realNumber)
    .option(
      "--preview [n]",
      "show the first n examples (default: 3) and which tokens are trained on, then exit",
      wholeNumber(1),
    )
    .option(
      "--dry-run",
      "print the resolved options and the source of each, look for the files they name, then exit",
    )
    .option(
      "--resume [runDir]",
      "resume the run in this folder; without a folder, resume the latest run",
    )
    .option(
      "--allow-changes",
      "with --resume: accept changed options that affect the results, and record the changes",
    )
    .option("--seed <n>", "random seed of the run; the same as trainer.seed=n", wholeNumber(0))
    .option(
      "--skip-bad-rows",
      "skip examples that cannot be used; the same as fine_tuning.skip_bad_rows=true",
    );
}

export function addFineTuneCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const add = (loss: "sft" | "dpo", description: string, help: string): void => {
    withFlags(command(program, loss, description))
      .addHelpText("after", help)
      .action(async (config: string, overrides: string[], flags: FineTuneFlags) => {
        const { fineTuneCommand } = await import("./fine-tune.ts");
        onExit(await fineTuneCommand(loss, [config, ...overrides], flags, io));
      });
  };
  add("sft", "fine-tune a model on conversations, or on good episodes of a run", sftHelp);
  add("dpo", "fine-tune a model on pairs of a chosen and a rejected response", dpoHelp);
}
