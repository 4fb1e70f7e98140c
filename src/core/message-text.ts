/** A message's content as text. */
import { AgentTrainerError } from "./errors.ts";
import type { ChatMessage } from "./message.ts";

/** What an image becomes, where only text has a place. */
export interface MessageTextOptions {
  /**
   * `note`: where it comes from, in brackets, for a person. `url`: its whole address, to compare messages. `drop`:
   * nothing. `refuse`: an error, for a model that would not see it.
   * @default "note"
   */
  readonly image?: "note" | "url" | "drop" | "refuse";
}

function imageText(url: string, { image = "note" }: MessageTextOptions): string {
  switch (image) {
    case "note":
      return `[image ${url.slice(0, 60)}]`;
    case "url":
      return url;
    case "drop":
      return "";
    case "refuse":
      throw new AgentTrainerError({
        code: "REQUEST_INVALID",
        message: "This model reads text only, but a message holds an image.",
      });
  }
}

/** Parts joined. What a file holds instead of a content is not text. @throws AgentTrainerError for `refuse` */
export function messageText(
  content: ChatMessage["content"] | null | undefined,
  options: MessageTextOptions = {},
): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly { type?: string; text?: string; url?: string }[])
    .map(({ type, text, url }) => (type === "text" ? (text ?? "") : imageText(url ?? "", options)))
    .join("");
}

/**
 * Whether a tool's result reports an error: it begins with the word, or is a JSON object that has an `error` or says
 * so of itself. There is no field for it in most protocols.
 */
export function isToolError(text: string): boolean {
  const start = text.slice(0, 2000).trim();
  if (/^(?:error|exception|traceback|fatal)\b/iu.test(start)) return true;
  if (!start.startsWith("{")) return false;
  return /^\{\s*"(?:error|exception)"\s*:\s*(?!null|false|""|\{\})|"(?:isError|is_error)"\s*:\s*true/u.test(
    start,
  );
}
