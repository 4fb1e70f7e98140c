/** Flags and help of `agent-trainer view` and `trace`; the commands are loaded on demand. */
import type { Command } from "commander";
import { portNumber, wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { MakeCommand } from "./model-commands.ts";
import type { TraceFlags } from "./trace.ts";
import type { ViewFlags } from "./view.ts";

const viewHelp = `
The page is served to this machine only, at a URL that holds a token; nothing is loaded from the network. An index is
kept in the run's folder as index.db; it can be deleted, and is made anew.

Examples:
  $ agent-trainer view
  $ agent-trainer view runs/shop
  $ agent-trainer view experiments evals
  $ agent-trainer view runs/shop runs/shop-lora --port 8080
  $ agent-trainer view runs/shop --html shop.html
`;

const traceHelp = `
ID is the episode's id, or its number in the list without ID.

Examples:
  $ agent-trainer trace --run runs/shop
  $ agent-trainer trace 3/tea-and-milk/0 --run runs/shop
  $ agent-trainer trace 3/tea-and-milk/0 --tokens
  $ agent-trainer trace 12 --json
  $ agent-trainer trace 12 --markdown
  $ agent-trainer trace 12 --replay
`;

export function addViewCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  command(program, "view", "look at runs in the browser, or write one as an HTML file")
    .argument(
      "[runs...]",
      "folders of runs or evaluations, or folders that hold them (default: runs)",
    )
    .option("--port <port>", "port to listen on; 0 takes a free one", portNumber, 0)
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--open", "open the page in the default browser")
    .option(
      "--html <file>",
      "write one run as a file that needs no server and no scripts, then exit",
    )
    .option("--limit <n>", "with --html: newest episodes to write", wholeNumber(1), 200)
    .addHelpText("after", viewHelp)
    .action(async (runs: string[], flags: ViewFlags) => {
      const { viewCommand } = await import("./view.ts");
      onExit(await viewCommand(runs, flags, io));
    });
  command(program, "trace", "show one recorded episode: conversation, calls, tokens")
    .argument("[id]", "id of the episode, or its number (default: list the newest)")
    .option(
      "--run <folder>",
      "folder of the run or the evaluation (default: the latest run in runs)",
    )
    .option(
      "--tokens",
      "list the sampled tokens with their log-probabilities, and what record.token_rows kept of them",
    )
    .option("--markdown", "print the episode as Markdown")
    .option("--replay", "show one message after the other, the next one at Enter")
    .addHelpText("after", traceHelp)
    .action(async (id: string | undefined, flags: TraceFlags) => {
      const { traceCommand } = await import("./trace.ts");
      onExit(await traceCommand(id, flags, io));
    });
}
