/** `agent-trainer compare`: whether one evaluation is better than another. */
import { compareEvaluations } from "../../runs/evaluations/compare.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { formatComparison } from "../report/evaluation-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { defined } from "../../util/defined.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
B is worse where the whole 95 % interval of the difference in reward is below 0. The interval is that of a
paired sign-flip test over the tasks that both evaluations have, at 5 %.

Examples:
  $ agent-trainer compare evals/before evals/after
  $ agent-trainer compare evals/main evals/branch --fail-if-worse
  $ agent-trainer compare evals/before evals/after --json
`;

export const command: CliCommand = defineCommand({
  flags: (compare) =>
    compare
      .argument("<a>", "folder of the first evaluation")
      .argument("<b>", "folder of the second evaluation")
      .option("--fail-if-worse", "exit with 1 if B is worse than A")
      .option("--seed <n>", "random seed of the test (default: 0)", wholeNumber(0)),
  help,
  run([a, b], { failIfWorse = false, seed, json = false }, io) {
    const comparison = compareEvaluations(a, b, defined({ seed }));
    writeResult(io, json, comparison, formatComparison(comparison));
    return failIfWorse && comparison.isWorse ? exitCodes.failed : exitCodes.done;
  },
});
