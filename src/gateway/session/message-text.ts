/** Comparable forms of what a message holds. */
import type { ChatMessage } from "../../core/message.ts";

/** The text of a message, parts joined. */
export function textOf(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : part.url)).join("");
}

/** The same text for JSON that differs in spaces or escapes only; other text as it is. */
export function canonicalJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
