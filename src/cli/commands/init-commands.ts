/** Flags and help of `agent-trainer init`; the command is in `init.ts`, loaded on demand. */
import type { Command } from "commander";
import { frameworkNames } from "../../launch/init/frameworks.ts";
import type { CliIo } from "../terminal/io.ts";
import type { InitFlags } from "./init.ts";
import type { MakeCommand } from "./model-commands.ts";

const help = `
Frameworks: ${frameworkNames.join(", ")}.

Examples:
  $ agent-trainer init shop
  $ agent-trainer init --framework ai-sdk
  $ agent-trainer init shop --model HuggingFaceTB/SmolLM2-135M-Instruct
  $ agent-trainer init shop --framework langgraph --dry-run
`;

export function addInitCommand(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  command(
    program,
    "init",
    "write a project with an agent that trains at once; files that exist are never overwritten",
  )
    .argument("[folder]", "folder of the project (default: the current folder)")
    .option("--framework <name>", "framework that the agent is written with", "openai")
    .option(
      "--model <name>",
      "model that is trained: OWNER/NAME on a hub, a model folder, a run or a .gguf file (default: builtin:shop-tiny, which knows only the shop of this project)",
    )
    .option("--dry-run", "list the files that would be created, and write nothing")
    .addHelpText("after", help)
    .action(async (folder: string | undefined, flags: InitFlags) => {
      const { initCommand } = await import("./init.ts");
      onExit(initCommand(folder, flags, io));
    });
}
