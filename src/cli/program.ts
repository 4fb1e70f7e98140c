/** The command line: its commands, its help, and what becomes of errors. */
import { Command, CommanderError } from "commander";
import { type CommandEntry, commandTable } from "./command-table.ts";
import type { CliCommand, CommandContext } from "./define-command.ts";
import { exitCodeOf, exitCodes } from "./terminal/exit-codes.ts";
import type { CliIo } from "./terminal/io.ts";
import { packageVersion } from "./load/package-version.ts";
import { formatError } from "./terminal/report-error.ts";
import { safeIo } from "./terminal/safe-io.ts";
import { colorsFor } from "./terminal/terminal.ts";
import { wrapText } from "./terminal/wrap-text.ts";

const help = `
Examples:
  $ agent-trainer demo
  $ agent-trainer train CONFIG.yaml --dry-run
  $ agent-trainer train --help
`;

/**
 * Adds a command. Only those that the command line names are loaded: the others are known by name.
 * @param path its name, after those of the commands that it is below
 */
async function addCommand(
  parent: Command,
  entry: CommandEntry,
  path: readonly string[],
  context: CommandContext,
): Promise<void> {
  const { words } = context;
  const {
    description,
    commands,
    help: groupHelp,
    isHidden = false,
  } = typeof entry === "string" ? { description: entry } : entry;
  const isAll = words[0] === "completion";
  const isNamed = path.every((word) => words.includes(word));
  if (isHidden && !isNamed) return;
  const command = parent
    .command(path.at(-1) ?? "", { hidden: isHidden })
    .description(description)
    .showHelpAfterError(
      `Run agent-trainer ${path.join(" ")} --help to list its arguments and options.`,
    );
  if (groupHelp !== undefined) command.addHelpText("after", groupHelp);
  else if (isAll || isNamed) {
    const loaded = (await import(`./commands/${path.join("-")}.ts`)) as { command: CliCommand };
    loaded.command(command, context);
  }
  for (const [child, below] of Object.entries(commands ?? {}))
    await addCommand(command, below, [...path, child], context);
}

async function buildProgram(context: CommandContext): Promise<Command> {
  const { io } = context;
  const program = new Command("agent-trainer")
    .description("Reinforcement learning for the agents you already have in TypeScript.")
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(wrapText(text, io.stdout.columns)),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      writeErr: (text) => void io.stderr.write(text),
    })
    .showHelpAfterError("Run agent-trainer --help to list commands and options.")
    .addHelpText("after", help);
  for (const [heading, commands] of Object.entries(commandTable)) {
    program.commandsGroup(heading);
    for (const [name, entry] of Object.entries(commands))
      await addCommand(program, entry, [name], context);
  }
  program.helpCommand(true);
  return program;
}

/** Runs the command line; resolves with the exit status and never rejects. */
export async function runCli(args: readonly string[], streams: CliIo): Promise<number> {
  const io = safeIo(streams);
  let code: number = exitCodes.done;
  try {
    const program = await buildProgram({ io, words: args, onExit: (status) => (code = status) });
    if (args.length === 0) {
      io.stdout.write(wrapText(program.helpInformation(), io.stdout.columns));
      return exitCodes.usage;
    }
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    // Commander has already written its own text.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const isVerbose = args.includes("--verbose") || (process.env["DEBUG"] ?? "") !== "";
    io.stderr.write(formatError(error, colorsFor(io.stderr), isVerbose));
    return exitCodeOf(error);
  }
}
