/** `agent-trainer verl setup`: a Python environment with verl, Ray and an inference server. */
import { verlEnvironment } from "../../launch/verl-options.ts";
import { pythonIn } from "../../util/process/python-in.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { formatSteps, runSteps } from "../load/setup-step.ts";
import {
  writeVerlReport,
  inferenceNames,
  inspectVerl,
  setupSteps,
} from "../load/verl-environment.ts";
import { exitCodes } from "../terminal/exit-codes.ts";

/** @throws AgentTrainerError for a step that fails. */
export const command: CliCommand = defineCommand({
  flags: (setup) =>
    setup
      .option(
        "--python <path>",
        "Python interpreter to create the environment with, 3.10 to 3.12",
        "python3",
      )
      .option("--into <folder>", "folder of the new environment", verlEnvironment)
      .addOption(
        new Option("--inference <name>", "inference server to install")
          .choices(inferenceNames)
          .default("vllm"),
      )
      .option("--flash-attn", "also install flash-attn: faster on long rows, may compile for hours")
      .option("--dry-run", "print the commands, then exit"),
  async run(_, { python, into: folder, inference, flashAttn, ...flags }, io) {
    const steps = setupSteps({ folder, python, inference, flashAttention: flashAttn === true });
    if (flags.dryRun === true) {
      io.stdout.write(formatSteps(steps));
      return exitCodes.done;
    }
    await runSteps(steps, flags.quiet === true, io);
    writeVerlReport(await inspectVerl(pythonIn(folder)), flags.json === true, io);
    return exitCodes.done;
  },
});
