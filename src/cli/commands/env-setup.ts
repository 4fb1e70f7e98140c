/** `agent-trainer env setup`: a Python environment for `verifiers:NAME` and `reasoning-gym:FAMILY`. */
import { environmentsFolder } from "../../environments/python-environment.ts";
import { pythonIn } from "../../util/process/python-in.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { environmentSteps, formatSteps, runSteps } from "../load/setup-step.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
Examples:
  $ agent-trainer env setup
  $ agent-trainer env setup ./my_taskset --dry-run
  $ agent-trainer env setup reasoning-gym
`;

/** The version that the bridge is tested with. */
const verifiers = "verifiers==0.4.0";

/** @throws AgentTrainerError for a step that fails. */
export const command: CliCommand = defineCommand({
  flags: (setup) =>
    setup
      .argument("[packages...]", "further packages, such as tasksets; as pip takes them")
      .option(
        "--python <path>",
        "interpreter to create the environment with, 3.11 to 3.14",
        "python3",
      )
      .option("--into <folder>", "folder of the new environment", environmentsFolder)
      .option("--dry-run", "print the commands, then exit"),
  help,
  async run([packages], { python, into: folder, dryRun, quiet = false, json = false }, io) {
    const all = [verifiers, ...packages];
    const steps = environmentSteps(folder, python, all.join(", "), all);
    if (dryRun === true) {
      io.stdout.write(formatSteps(steps));
      return exitCodes.done;
    }
    await runSteps(steps, quiet, io);
    const text = `The environment is in ${folder}.\nTry a taskset: agent-trainer env show verifiers:NAME\n`;
    writeResult(io, json, { folder, python: pythonIn(folder), packages }, text);
    return exitCodes.done;
  },
});
