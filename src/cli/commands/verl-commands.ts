/** Flags and help of `agent-trainer verl`; what the commands do is in `verl.ts`, loaded when asked for. */
import { type Command, Option } from "commander";
import type { CliIo } from "../terminal/io.ts";
import { inferenceNames } from "../load/verl-environment.ts";
import { verlEnvironment } from "../load/verl-options.ts";
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
    .description("the Python environment for training on GPUs with verl")
    .addHelpText("after", groupHelp);
  command(group, "setup", "make an environment with verl, Ray and an inference server")
    .option("--python <path>", "interpreter to make it with, 3.10 to 3.12", "python3")
    .option("--into <folder>", "where it goes", verlEnvironment)
    .addOption(
      new Option("--inference <name>", "what samples").choices([...inferenceNames]).default("vllm"),
    )
    .option("--no-flash-attn", "leave flash-attn out, which verl needs on GPUs")
    .option("--dry-run", "print the commands, then stop")
    .action(async (flags: VerlSetupFlags) => {
      const { verlSetupCommand } = await import("./verl.ts");
      onExit(await verlSetupCommand(flags, io));
    });
  command(group, "check", "say what an environment has, and what is missing")
    .option("--python <path>", "interpreter to look at, instead of the folder's")
    .option("--into <folder>", "where the environment is", verlEnvironment)
    .action(async (flags: VerlCheckFlags) => {
      const { verlCheckCommand } = await import("./verl.ts");
      onExit(verlCheckCommand(flags, io));
    });
}
