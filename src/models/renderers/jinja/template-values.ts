/** Messages and tools as the values that transformers gives a chat template. */
import { messageText } from "../../../core/message-text.ts";
import type { ChatMessage, ToolCall, ToolDefinition } from "../../../core/message.ts";
import { toolJson } from "../../../core/tool-json.ts";
import { JsonNumber, tryParseExact, type ExactJson } from "../../../util/exact-json.ts";
import { fail } from "./language/errors.ts";
import { readInt } from "./language/numbers.ts";
import { Str } from "./language/str.ts";
import { Dict, none, type Value } from "./language/values.ts";

/** Only these are words of the template's; any other is a message's text. */
const roles: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);

/** What a client wrote, with its digits and its order of keys. */
export function toValue(json: ExactJson): Value {
  if (typeof json === "string") return Str.foreign(json);
  if (json instanceof JsonNumber) return json.isInteger ? readInt(json.text) : json.value;
  if (json === null) return none;
  if (typeof json === "boolean") return json;
  if (json instanceof Map) {
    return new Dict(
      Array.from(json as ReadonlyMap<string, ExactJson>, ([key, item]) => [
        Str.foreign(key),
        toValue(item),
      ]),
    );
  }
  return (json as readonly ExactJson[]).map(toValue);
}

/** What is not JSON stays text; no text at all is a call without arguments. */
function argumentsOf({ arguments: text }: ToolCall, asText: boolean): Value {
  const parsed = text.trim() === "" ? new Map<string, ExactJson>() : tryParseExact(text);
  if (parsed === undefined && isJson(text)) fail("ValueError", "the arguments are nested too deep");
  return parsed === undefined || asText ? Str.foreign(text) : toValue(parsed);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How a template takes an assistant's calls: the first templates with tools were written for OpenAI's messages. */
export interface CallShape {
  /** Arguments as the text that they are, not as the object that the text describes. */
  readonly argumentsAsText: boolean;
  /** None as the content of a message that has only calls, not an empty text. */
  readonly noContent: boolean;
}

export function messageValue(message: ChatMessage, shape: CallShape): Dict {
  const { role, content, reasoning, toolCalls = [], toolCallId, name } = message;
  const text = messageText(content, { image: "refuse" });
  const fields: [string, Value][] = [
    // Templates write a role between the signs of a control token.
    ["role", roles.has(role) ? Str.own(role) : Str.foreign(role)],
    ["content", shape.noContent && toolCalls.length > 0 && text === "" ? none : Str.foreign(text)],
  ];
  if (reasoning !== undefined) fields.push(["reasoning_content", Str.foreign(reasoning)]);
  if (toolCalls.length > 0) {
    const calls = toolCalls.map((call) =>
      Dict.named({
        id: Str.foreign(call.id),
        type: Str.own("function"),
        function: Dict.named({
          name: Str.foreign(call.name),
          arguments: argumentsOf(call, shape.argumentsAsText),
        }),
      }),
    );
    fields.push(["tool_calls", calls]);
  }
  if (toolCallId !== undefined) fields.push(["tool_call_id", Str.foreign(toolCallId)]);
  if (name !== undefined) fields.push(["name", Str.foreign(name)]);
  return Dict.named(Object.fromEntries(fields));
}

export function toolValue(tool: ToolDefinition): Dict {
  return Dict.named({ type: Str.own("function"), function: toValue(toolJson(tool)) });
}
