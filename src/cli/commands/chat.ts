/** `agent-trainer chat`: talks to a model, or to an agent on it. */
import { ConfigError } from "../../core/errors.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import { talk } from "../chat/talk.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { numberBetween, wholeNumber } from "../terminal/flag-values.ts";

const help = `
In the chat: /reset forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops a response.
With --agent, every line is a new task for the agent, with its system prompt and its tools.

Examples:
  $ agent-trainer chat runs/shop
  $ agent-trainer chat runs/shop/best --temperature 0 --system "Answer in one word."
  $ agent-trainer chat runs/shop --agent shop.yaml
  $ agent-trainer chat http://localhost:8000/v1
  $ printf 'Hello\\nAnd again\\n' | agent-trainer chat builtin:shop-tiny --json
`;

export const command: CliCommand = defineCommand({
  flags: (chat) =>
    chat
      .argument(
        "[model]",
        "run, checkpoint (RUN/best), model, or URL of an OpenAI-compatible endpoint",
      )
      .option("--agent <config>", "YAML file whose agent answers, as in eval")
      .option("--system <text>", "system message at the start of the conversation")
      .option(
        "--temperature <t>",
        "sampling temperature, 0 to 10 (default: 1, or that of the agent's file)",
        numberBetween(0, 10),
      )
      .option("--max-tokens <n>", "maximum tokens of a response", wholeNumber(1)),
  help,
  run([model], { json, quiet, ...flags }, io) {
    if (model === undefined) {
      throw new ConfigError({
        message: "chat needs to know which model to talk to.",
        hint: "Name it first: agent-trainer chat runs/NAME. agent-trainer runs list shows the runs of a folder.",
      });
    }
    return talk(
      async (signal) => {
        try {
          const { openSpeaker } = await import("../chat/open-speaker.ts");
          return await openSpeaker({ ...flags, model, quiet }, io, signal);
        } catch (error) {
          throw missingPackage(error) ?? error;
        }
      },
      { json, quiet },
      io,
    );
  },
});
