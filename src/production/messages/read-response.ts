/** The response of a model, as services return it and SDKs record it: one message, and how it ended. */
import type { Damage } from "../../core/completeness.ts";
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { reasonsIn, reasonsNear } from "./endings.ts";
import { isConversation, opened, readMessages } from "./read-messages.ts";
import { asText, isMasked } from "./read-parts.ts";

export interface ReadResponse {
  /** null where there is none. */
  readonly response: ChatMessage | null;
  readonly damage: ReadonlySet<Damage>;
  /** All that says how it ended. */
  readonly reasons: readonly unknown[];
}

/** The choices of a response; each is a message, a list of items, or a text. */
type Choices = readonly unknown[];

const objects = (value: unknown): readonly JsonFields[] | null =>
  Array.isArray(value) && value.length > 0 && value.every(isJsonObject) ? value : null;

/** A choice: below `message`, as `text`, or as `content` of Google. An answer in JSON may have texts in a list, too. */
function choiceOf(choice: JsonFields): unknown {
  if (isJsonObject(choice["message"])) return own(choice["message"]);
  const isChoice = ["index", "finish_reason", "logprobs"].some((name) => name in choice);
  if (isChoice && typeof choice["text"] === "string") return choice["text"];
  return isJsonObject(choice["content"]) ? own(choice["content"]) : undefined;
}

/** Some record a response without its role. */
const own = (given: JsonFields): unknown =>
  given["role"] === undefined && given["type"] === undefined && given["lc"] === undefined
    ? { ...given, role: "assistant" }
    : given;

function choicesIn(list: unknown): Choices | null {
  const found = objects(list)?.map(choiceOf);
  return found === undefined || found.includes(undefined) ? null : found;
}

/** Fields of a message of an assistant; an answer in JSON has others. */
const fields = new Set(
  "content tool_calls toolCalls function_call refusal annotations audio reasoning_content parts finish_reason stop_reason additional_kwargs response_metadata".split(
    " ",
  ),
);

function isBare(given: JsonFields): boolean {
  const said = ["content", "parts"].map((name) => given[name] ?? null).find((one) => one !== null);
  const isSaid = said === undefined || typeof said === "string" || objects(said) !== null;
  const isCalled = ["tool_calls", "toolCalls"].some((name) => name in given);
  return (
    Object.keys(given).every((name) => fields.has(name)) && isSaid && (said ?? isCalled) !== false
  );
}

/** null for what is no response of a service: an answer in JSON. */
function choicesOf(given: JsonFields): Choices | null {
  const { choices, candidates, generations, output, message, messages, text } = given;
  const found =
    choicesIn(choices) ??
    choicesIn(candidates) ??
    choicesIn(
      objects(Array.isArray(generations) ? generations.flat() : null)?.map((one) => ({
        index: 0,
        ...one,
      })),
    );
  if (found !== null) return found;
  if (isConversation(given)) return [given];
  if (isJsonObject(output) && isJsonObject(output["message"])) return [own(output["message"])];
  if (output !== undefined && isConversation(output)) return listChoices(output);
  if (isJsonObject(message) && isConversation(own(message))) return [own(message)];
  if (Array.isArray(messages) && isConversation(messages)) return [messages.at(-1)];
  if (typeof text === "string" && reasonsNear(given).length > 0)
    return [{ role: "assistant", content: text, toolCalls: given["toolCalls"] }];
  return isBare(given) ? [own(given)] : null;
}

/** Messages of one list are choices where several of them say something; else they are pieces of one. */
function listChoices(list: unknown): Choices {
  if (!Array.isArray(list)) return [list];
  const isItems = list.some((one) => isJsonObject(one) && typeof one["type"] === "string");
  if (isItems) return [list];
  const isSaying = (one: unknown): boolean =>
    readMessages([one]).messages.some(({ content }) => messageText(content) !== "");
  return list.filter(isSaying).length > 1 ? (list as unknown[]) : [list];
}

const choicesIfAny = (given: unknown): Choices | null => {
  if (isJsonObject(given)) return choicesOf(given);
  if (!Array.isArray(given)) return null;
  return choicesIn(given) ?? (isConversation(given) ? listChoices(given) : null);
};

const nothing: ReadResponse = { response: null, damage: new Set(), reasons: [] };

const saying = (content: string): ChatMessage => ({ role: "assistant", content });

/**
 * @param form `answer`: what was recorded may be the answer itself, also in JSON. `body`: what a service returned.
 */
export function readResponse(value: unknown, form: "answer" | "body" = "answer"): ReadResponse {
  const damage = new Set<Damage>();
  const given = opened(value, damage);
  if (given === undefined || given === null || given === "") return nothing;
  const choices = choicesIfAny(given);
  const isText = typeof value === "string";
  if (isMasked(value)) damage.add("missing text");
  if (choices === null) {
    // Pieces of a stream, say.
    if ((form === "body" && !isText) || reasonsNear(given).length > 0) damage.add("unknown item");
    return { response: saying(asText(value)), damage, reasons: [] };
  }
  if (choices.length > 1) damage.add("several answers");
  const [first] = choices;
  const reasons = reasonsIn(given);
  if (typeof first === "string") return { response: saying(first), damage, reasons };
  const read = readMessages(Array.isArray(first) ? first : [first]);
  for (const one of read.damage) damage.add(one);
  const messages = read.messages.filter(({ role }) => role === "assistant");
  if (read.messages.length > 1) damage.add("several answers");
  // An item that is not known is all there is, or the last words are of another.
  if (messages.length === 0 && damage.size === 0) damage.add("unknown item");
  return { response: messages[0] ?? saying(""), damage, reasons };
}
