/** Flags and help of `agent-trainer chat`; the command is loaded on demand. */
import { type Command, InvalidArgumentError } from "commander";
import { wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { ChatFlags } from "./chat.ts";
import type { MakeCommand } from "./model-commands.ts";

const chatHelp = `
In the chat: /reset forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops a response.

Examples:
  $ agent-trainer chat runs/shop
  $ agent-trainer chat runs/shop/best --temperature 0 --system "Answer in one word."
  $ agent-trainer chat http://localhost:8000/v1
  $ printf 'Hello\\nAnd again\\n' | agent-trainer chat builtin:shop-tiny --json
`;

function temperature(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= 0 && value <= 10) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 10.");
}

export function addChatCommand(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  command(program, "chat", "talk to a model in the terminal")
    .argument(
      "<model>",
      "run, checkpoint (RUN/best), model, or URL of an OpenAI-compatible endpoint",
    )
    .option("--system <text>", "system message at the start of the conversation")
    .option("--temperature <t>", "sampling temperature, 0 to 10 (default: 1)", temperature)
    .option("--max-tokens <n>", "maximum tokens of a response", wholeNumber(1))
    .addHelpText("after", chatHelp)
    .action(async (model: string, flags: ChatFlags) => {
      const { chatCommand } = await import("./chat.ts");
      onExit(await chatCommand(model, flags, io));
    });
}
