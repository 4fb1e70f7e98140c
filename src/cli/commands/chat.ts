/** `agent-trainer chat`: talks to a model. */
import { type CliCommand, defineCommand } from "../define-command.ts";
import { numberBetween, wholeNumber } from "../terminal/flag-values.ts";
import { talk } from "../terminal/talk.ts";

const help = `
In the chat: /reset forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops a response.

Examples:
  $ agent-trainer chat runs/shop
  $ agent-trainer chat runs/shop/best --temperature 0 --system "Answer in one word."
  $ agent-trainer chat http://localhost:8000/v1
  $ printf 'Hello\\nAnd again\\n' | agent-trainer chat builtin:shop-tiny --json
`;

export const command: CliCommand = defineCommand({
  flags: (chat) =>
    chat
      .argument(
        "<model>",
        "run, checkpoint (RUN/best), model, or URL of an OpenAI-compatible endpoint",
      )
      .option("--system <text>", "system message at the start of the conversation")
      .option(
        "--temperature <t>",
        "sampling temperature, 0 to 10 (default: 1)",
        numberBetween(0, 10),
      )
      .option("--max-tokens <n>", "maximum tokens of a response", wholeNumber(1)),
  help,
  run: ([model], flags, io) => talk(model, flags, io),
});
