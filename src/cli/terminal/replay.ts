/** `agent-trainer show --replay`: an episode message by message, the next one at each line of the input. */
import { createInterface } from "node:readline";
import type { Conversation, ViewMessage } from "../../view/api/conversation.ts";
import { toolCallTexts } from "../../view/episode/conversation.ts";
import { exitCodes } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import { colorsFor, safeText } from "./terminal.ts";

interface Said {
  readonly message: ViewMessage;
  readonly call: number;
  /** Why the call's prompt does not continue the one before. */
  readonly break: string | undefined;
}

function messagesOf({ trajectories }: Conversation): Said[] {
  return trajectories.flatMap(({ calls }) =>
    calls.flatMap((call) =>
      [...call.newMessages, call.response].map((message, i) => ({
        message,
        call: call.k + 1,
        break: i === 0 ? call.break : undefined,
      })),
    ),
  );
}

function textOf(message: ViewMessage): string {
  const { text, reasoning } = message;
  const parts = [
    ...(reasoning === undefined ? [] : [reasoning]),
    ...(text === "" ? [] : [text]),
    ...toolCallTexts(message),
  ];
  return parts.length === 0 ? "(empty)" : safeText(parts.join("\n"));
}

/** Ends after the last message, with `q`, with the end of the input, or by Ctrl-C. Returns the exit status. */
export async function replayEpisode(
  conversation: Conversation,
  io: CliIo,
  input: NodeJS.ReadableStream = process.stdin,
): Promise<number> {
  const colors = colorsFor(io.stdout);
  const messages = messagesOf(conversation);
  let shown = 0;
  const show = (): void => {
    const said = messages[shown++];
    if (said === undefined) return;
    const { message, call, break: why } = said;
    if (why !== undefined) io.stdout.write(`${colors.red(`prefix break: ${safeText(why)}`)}\n`);
    const name = message.name === undefined ? "" : ` ${safeText(message.name)}`;
    const title = `[${shown}/${messages.length}] ${message.role}${name}, call ${call}`;
    io.stdout.write(`${colors.dim(title)}\n${textOf(message)}\n`);
  };
  io.stderr.write("Enter shows the next message, q ends.\n");
  const lines = createInterface({ input });
  let isInterrupted = false;
  lines.on("SIGINT", () => {
    isInterrupted = true;
    lines.close();
  });
  show();
  if (shown < messages.length) {
    for await (const line of lines) {
      if (line.trim() === "q") break;
      show();
      if (shown >= messages.length) break;
    }
  }
  lines.close();
  if (shown >= messages.length) io.stdout.write(`${safeText(conversation.ending)}\n`);
  return isInterrupted ? exitCodes.interrupted : exitCodes.done;
}
