/** A command: what it is given and what it does. The types of its flags are those that it declares. */
import * as commander from "commander";
import type * as typed from "@commander-js/extra-typings";
import type { CliIo } from "./terminal/io.ts";

// The package has types only: what runs is commander.
export const Option: typeof typed.Option = commander.Option;

type CommonFlags = { json?: true; quiet?: true; verbose?: true };

type Bare = typed.Command<[], CommonFlags>;

export interface CommandDefinition<Args extends unknown[], Flags extends typed.OptionValues> {
  /** Arguments and flags. */
  readonly flags: (command: Bare) => typed.Command<Args, Flags>;
  /** Shown after the list of flags; a function is given the width, and the words of the command line. */
  readonly help?: string | ((columns: number | undefined, words: readonly string[]) => string);
  /** Returns the exit status. */
  readonly run: (args: Args, flags: Flags, io: CliIo) => number | Promise<number>;
}

export interface CommandContext {
  readonly io: CliIo;
  /** The words of the command line. */
  readonly words: readonly string[];
  readonly onExit: (status: number) => void;
}

/** Adds arguments, flags, help and action to a command. */
export type CliCommand = (command: commander.Command, context: CommandContext) => void;

/** @param definition `flags` gives `run` its types */
export function defineCommand<Args extends unknown[], Flags extends typed.OptionValues>({
  flags,
  help = "",
  run,
}: CommandDefinition<Args, Flags>): CliCommand {
  return (command, { io, words, onExit }) => {
    flags(command as unknown as Bare);
    command
      .optionsGroup("Options of every command:")
      .option("--json", "print one JSON object as the last line of stdout")
      .option("--quiet", "print only warnings during the run")
      .option("--verbose", "print stack traces of errors")
      .helpOption("-h, --help", "display help for command");
    command.addHelpText("after", () =>
      typeof help === "string" ? help : help(io.stdout.columns, words),
    );
    command.action(async (...given: unknown[]) => {
      const self = given.at(-1) as commander.Command;
      // What a command and its parent both have, the parent reads.
      const values = self.optsWithGlobals<Flags>();
      onExit(await run(self.processedArgs as Args, values, io));
    });
  };
}
