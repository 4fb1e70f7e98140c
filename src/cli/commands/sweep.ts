/** `agent-trainer sweep`: runs over values of options, each with several seeds. What it needs is loaded when it runs. */
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { seedNumbers, numberBetween, wholeNumber } from "../terminal/flag-values.ts";
import { sweptMethods } from "../sweep/swept-methods.ts";

const help = `
Values of an option between commas are searched; every other override applies to all runs. A FILE with parameters is
that of a sweep, and names the configuration. Runs are ordinary runs in one folder: agent-trainer view FOLDER.

Examples:
  $ agent-trainer sweep shop.yaml training.learning_rate=1e-4,3e-4,1e-3 --seeds 3
  $ agent-trainer sweep shop.yaml training.learning_rate=1e-4,1e-3 rollout.n=4,8 trainer.total_batches=10
  $ agent-trainer sweep shop.yaml --method sft fine_tuning.train=a.jsonl training.learning_rate=1e-4,1e-3
  $ agent-trainer sweep sweep.yaml --runs 12 --minutes 60
  $ agent-trainer sweep sweep.yaml --dry-run
  $ agent-trainer sweep sweep.yaml --resume
`;

export const command: CliCommand = defineCommand({
  flags: (sweep) =>
    sweep
      .argument("<file>", "YAML file with options, as for train, or that of a sweep")
      .argument("[values...]", "key=a,b,c to search values of an option, key=value for all runs")
      .option("--seeds <n>", "seeds of each point: how many, or a list: 3,7,9", seedNumbers)
      .addOption(
        new Option("--search <kind>", "how points are chosen (default: grid)").choices([
          "grid",
          "random",
        ] as const),
      )
      .option("--runs <n>", "maximum number of runs", wholeNumber(1))
      .option("--minutes <n>", "maximum minutes of all runs together", numberBetween(0, 1e7))
      .option(
        "--metric <name>",
        "what runs are compared by (default: val/reward/mean; of fine-tuning val/loss, the lower the better)",
      )
      .addOption(
        new Option("--method <name>", "the command whose runs are made (default: train)").choices(
          sweptMethods,
        ),
      )
      .option("--name <name>", "folder of the sweep in trainer.output_dir")
      .option("--resume", "resume the sweep: runs that ended are not repeated")
      .option("--retry-failed", "with --resume: try failed runs again")
      .option("--dry-run", "list the runs, then exit"),
  help,
  async run([file, values], flags, io) {
    const { readSweepArguments } = await import("../sweep/sweep-arguments.ts");
    const { makeSweep } = await import("../sweep/make-sweep.ts");
    const given = readSweepArguments(file, values);
    if (flags.retryFailed === true && flags.resume !== true) {
      const { ConfigError } = await import("../../core/errors.ts");
      throw new ConfigError({
        message: "--retry-failed has no effect without --resume: a new sweep has no failed runs.",
        hint: "Remove it, or add --resume.",
      });
    }
    const { seeds, search, runs, minutes, metric, name, method = given.method } = flags;
    const named = { seeds, search, runs, minutes, metric, name };
    const repeated = Object.entries({ ...named, method: flags.method }).flatMap(([flag, value]) =>
      value === undefined ? [] : [`--${flag}`, String(value)],
    );
    const isFineTuning = method !== "train";
    return await makeSweep(
      {
        ...given,
        overrides: [
          ...given.overrides,
          ...(isFineTuning ? [`fine_tuning.loss.type=${method}`] : []),
        ],
        isFineTuning,
        ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
        folder: null,
        suffix: "sweep",
        isDryRun: flags.dryRun === true,
        resume: flags.resume === true,
        retryFailed: flags.retryFailed === true,
        words: ["sweep", file, ...values, ...repeated],
      },
      flags,
      io,
    );
  },
});
