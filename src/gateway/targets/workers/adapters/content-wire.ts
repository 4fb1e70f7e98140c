/** The text of an answer in OpenAI's chat format, in each form that servers give it. */
import { isJsonObject, type JsonFields } from "../../../../util/json-object.ts";
import { defined, isGiven } from "../../../../util/defined.ts";
import type { ResponsePart } from "./response-part.ts";
import { listIn, textIn } from "./wire-values.ts";

type Content = Pick<ResponsePart, "content" | "reasoning" | "unreadable">;

/** What models answer that is not text. */
const media = ["audio", "images"];

const unreadableType = (type: unknown): string =>
  `sent content of the type ${JSON.stringify(type ?? null)?.slice(0, 80)}, which no message here can hold`;

/** Some put the text of reasoning into a list, too. */
const textsOf = (value: unknown): string =>
  textIn(value) ??
  listIn(value)
    .map((part) => (isJsonObject(part) ? (textIn(part.text) ?? "") : ""))
    .join("");

function readPart(part: unknown): Content {
  if (typeof part === "string") return { content: part };
  const { type, text, refusal, thinking, reasoning } = isJsonObject(part) ? part : {};
  if ((type === undefined || type === "text" || type === "output_text") && typeof text === "string")
    return { content: text };
  if (type === "refusal" && typeof refusal === "string") return { content: refusal };
  if (type === "thinking") return { reasoning: textsOf(thinking) };
  if (type === "reasoning") return { reasoning: textsOf(reasoning ?? text) };
  return { unreadable: unreadableType(type) };
}

function joined(parts: readonly Content[], name: "content" | "reasoning"): string | undefined {
  const texts = parts.flatMap((part) => part[name] ?? []);
  return texts.length === 0 ? undefined : texts.join("");
}

/** Of a message or a part of one. */
export function readContent(message: JsonFields): Content {
  const { content, refusal } = message;
  const given: readonly unknown[] = Array.isArray(content) ? content : [content];
  const parts = given.filter(isGiven).map(readPart);
  const sent = media.find((name) => {
    const value = message[name];
    return isJsonObject(value) || listIn(value).length > 0;
  });
  const said = joined(parts, "content");
  return defined({
    // A refusal comes instead of content.
    content: typeof refusal === "string" ? `${said ?? ""}${refusal}` : said,
    reasoning:
      (textIn(message.reasoning) || textIn(message.reasoning_content)) ??
      joined(parts, "reasoning"),
    unreadable:
      parts.find(({ unreadable }) => unreadable !== undefined)?.unreadable ??
      (sent === undefined ? undefined : unreadableType(sent)),
  });
}
