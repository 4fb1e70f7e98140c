/** `agent-trainer verl check`: the packages of an environment; fails where one is missing. */
import { verlEnvironment } from "../../launch/verl-options.ts";
import { pythonIn } from "../../util/process/python-in.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { writeVerlReport, inspectVerl } from "../load/verl-environment.ts";
import { exitCodes } from "../terminal/exit-codes.ts";

export const command: CliCommand = defineCommand({
  flags: (check) =>
    check
      .option("--python <path>", "Python interpreter to check (default: the one in --into)")
      .option("--into <folder>", "folder of the environment", verlEnvironment),
  async run(_, { python, into, json = false }, io) {
    const report = await inspectVerl(python ?? pythonIn(into));
    writeVerlReport(report, json, io);
    return report.problems.length === 0 ? exitCodes.done : exitCodes.failed;
  },
});
