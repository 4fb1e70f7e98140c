/** Flags and help of `agent-trainer verl`; the commands are in `verl.ts`, loaded on demand. */
import { type Command, Option } from "commander";
import type { CliIo } from "../terminal/io.ts";
import { inferenceNames } from "../load/verl-environment.ts";
import { verlEnvironment } from "../../launch/verl-options.ts";
import type { MakeCommand } from "./model-commands.ts";
import type { VerlCheckFlags, VerlSetupFlags } from "./verl.ts";

const groupHelp = `
Examples:
  $ agent-trainer verl setup
  $ agent-trainer verl setup --inference sglang --dry-run
  $ agent-trainer verl check
  $ agent-trainer train shop.yaml backend=verl verl.gpus_per_node=8
`;

export function addVerlCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const group = program
    .command("verl")
    .description("manage the Python environment for training on GPUs with verl")
    .addHelpText("after", groupHelp);
  command(group, "setup", "create a Python environment with verl, Ray and an inference server")
    .option(
      "--python <path>",
      "Python interpreter to create the environment with, 3.10 to 3.12",
      "python3",
    )
    .option("--into <folder>", "folder of the new environment", verlEnvironment)
    .addOption(
      new Option("--inference <name>", "inference server to install")
        .choices([...inferenceNames])
        .default("vllm"),
    )
    .option("--no-flash-attn", "do not install flash-attn, which verl needs on GPUs")
    .option("--dry-run", "print the commands, then exit")
    .action(async (flags: VerlSetupFlags) => {
      const { verlSetupCommand } = await import("./verl.ts");
      onExit(await verlSetupCommand(flags, io));
    });
  command(group, "check", "list the packages of an environment, and what is missing")
    .option("--python <path>", "Python interpreter to check (default: the one in --into)")
    .option("--into <folder>", "folder of the environment", verlEnvironment)
    .action(async (flags: VerlCheckFlags) => {
      const { verlCheckCommand } = await import("./verl.ts");
      onExit(await verlCheckCommand(flags, io));
    });
}
