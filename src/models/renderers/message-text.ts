/** The text of messages, as templates see it. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { ChatMessage } from "../../core/message.ts";

/** Text of a message; images are not supported by text models. */
export function textOf(message: ChatMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((part) => {
      if (part.type === "image") {
        throw new AgentTrainerError({
          code: "REQUEST_INVALID",
          message: "This model reads text only, but a message holds an image.",
        });
      }
      return part.text;
    })
    .join("");
}
