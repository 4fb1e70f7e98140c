/** Flags and help of `agent-trainer env`; the commands are in `env.ts`, loaded on demand. */
import type { Command } from "commander";
import { environmentsFolder } from "../../environments/python-environment.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { EnvSetupFlags, EnvShowFlags } from "./env.ts";
import type { MakeCommand } from "./model-commands.ts";

const groupHelp = `
Examples:
  $ agent-trainer env show ors:http://127.0.0.1:8080
  $ agent-trainer env show harbor:./tasks --split train --limit 10
  $ agent-trainer env setup
  $ agent-trainer env setup ./my_taskset
`;

export function addEnvCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const group = program
    .command("env")
    .description(
      "show what an environment offers, and install what verifiers: and reasoning-gym: need",
    )
    .addHelpText("after", groupHelp);
  command(group, "show", "list the first tasks of an environment, and the prompt and tools of one")
    .argument(
      "<env>",
      "the environment, as in the option env: ors:URL, openenv:URL, harbor:FOLDER, verifiers:NAME, reasoning-gym:FAMILY, mcp:COMMAND, or path#export",
    )
    .option("--split <name>", "split whose tasks are listed", "train")
    .option("--limit <n>", "number of tasks to list", wholeNumber(1), 5)
    .option(
      "--python <path>",
      "Python interpreter for verifiers: and reasoning-gym: (default: that of env setup)",
    )
    .addHelpText(
      "after",
      '\nExamples:\n  $ agent-trainer env show ors:http://127.0.0.1:8080\n  $ agent-trainer env show verifiers:gsm8k-v1 --limit 1 --json\n  $ agent-trainer env show "mcp:npx -y @modelcontextprotocol/server-everything"\n',
    )
    .action(async (name: string, flags: EnvShowFlags) => {
      const { envShowCommand } = await import("./env.ts");
      onExit(await envShowCommand(name, flags, io));
    });
  command(
    group,
    "setup",
    "create a Python environment with verifiers, for verifiers:NAME, and further packages",
  )
    .argument("[packages...]", "further packages, such as tasksets; as pip takes them")
    .option(
      "--python <path>",
      "interpreter to create the environment with, 3.11 to 3.14",
      "python3",
    )
    .option("--into <folder>", "folder of the new environment", environmentsFolder)
    .option("--dry-run", "print the commands, then exit")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer env setup\n  $ agent-trainer env setup ./my_taskset --dry-run\n  $ agent-trainer env setup openreward reasoning-gym\n",
    )
    .action(async (packages: string[], flags: EnvSetupFlags) => {
      const { envSetupCommand } = await import("./env.ts");
      onExit(await envSetupCommand(packages, flags, io));
    });
}
