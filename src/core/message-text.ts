/** A message's content as text. */
import type { ChatMessage } from "./message.ts";

/** Pictures become a note of where they come from. */
export function messageText(content: ChatMessage["content"] | null | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly { type?: string; text?: string; url?: string }[])
    .map(({ type, text, url }) =>
      type === "text" ? (text ?? "") : `[image ${(url ?? "").slice(0, 60)}]`,
    )
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
