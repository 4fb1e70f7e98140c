/** Which tools a request lets the model call, in any form in which clients of the three protocols say it. */
import type { JsonValue, ToolDefinition } from "../../../core/message.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { ToolChoice } from "../../call/call-request.ts";
import { badRequest } from "../../http/api-error.ts";
import { asList } from "../../http/json-fields.ts";
import { unsupported } from "./refusals.ts";

const at = "tool_choice";
const remedy =
  'Use "auto", "none", "required", the name of one of the tools, or "allowed_tools" with some of them, as your client\'s protocol writes them.';

/** Words for it, and types of objects that say no more. */
const words: Readonly<Record<string, ToolChoice | "none">> = {
  auto: { mustCall: false, names: null },
  none: "none",
  required: { mustCall: true, names: null },
  any: { mustCall: true, names: null },
};

/** Fields that each type may have; the last is Anthropic's, and read with `parallel_tool_calls`. */
const own = ["type", "disable_parallel_tool_use"];
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  auto: own,
  none: own,
  any: own,
  tool: [...own, "name"],
  function: [...own, "function", "name"],
  allowed_tools: [...own, "allowed_tools", "mode", "tools"],
};

/** `{type: "function", function: {name}}`, or with the name next to the type. */
function nameOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name } = isJsonObject(value.function) ? value.function : value;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function allowed(choice: JsonFields): ToolChoice | undefined {
  const { mode, tools } = isJsonObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  const names = asList(tools, `${at}.tools`)?.map((tool) =>
    isJsonObject(tool) && tool.type === "function" ? nameOf(tool) : undefined,
  );
  if (!names || names.length === 0 || (mode !== "auto" && mode !== "required")) return undefined;
  return names.every((name) => name !== undefined)
    ? { mustCall: mode === "required", names: [...new Set(names)] }
    : undefined;
}

function read(choice: unknown): ToolChoice | "none" | undefined {
  if (typeof choice === "string") return Object.hasOwn(words, choice) ? words[choice] : undefined;
  if (!isJsonObject(choice) || typeof choice.type !== "string") return undefined;
  const { type } = choice;
  const fields = Object.hasOwn(fieldsOf, type) ? fieldsOf[type]! : [];
  if (Object.keys(choice).some((name) => !fields.includes(name))) return undefined;
  const { disable_parallel_tool_use: isSingle = false } = choice;
  if (typeof isSingle !== "boolean") return undefined;
  if (type === "allowed_tools") return allowed(choice);
  if (type !== "function" && type !== "tool") return words[type];
  const name = nameOf(choice);
  return name === undefined ? undefined : { mustCall: true, names: [name] };
}

const wireName = (name: string): JsonValue => ({ type: "function", function: { name } });

/** As OpenAI's chat requests have it; undefined where it restricts nothing. */
export function wireChoice({ mustCall, names }: ToolChoice): JsonValue | undefined {
  if (names === null) return mustCall ? "required" : undefined;
  if (mustCall && names.length === 1) return wireName(names[0]!);
  const mode = mustCall ? "required" : "auto";
  return { type: "allowed_tools", allowed_tools: { mode, tools: names.map(wireName) } };
}

/** The tools that are in the prompt, and the choice among them. @throws ApiError 400 naming the field. */
export function readToolChoice(
  { tool_choice: choice }: JsonFields,
  tools: readonly ToolDefinition[],
): { readonly tools: readonly ToolDefinition[]; readonly toolChoice?: ToolChoice } {
  if (choice === undefined || choice === null) return { tools };
  const toolChoice = read(choice);
  if (toolChoice === undefined) throw unsupported(at, choice, remedy);
  // A model does not call a tool that is not in its prompt.
  if (toolChoice === "none") return { tools: [] };
  const missing = toolChoice.names?.find((name) => !tools.some((tool) => tool.name === name));
  if (missing !== undefined || (toolChoice.mustCall && tools.length === 0)) {
    throw badRequest(
      at,
      `tool_choice requires a call of ${missing ?? "a tool"}, but tools does not have ${missing === undefined ? "any" : "it"}.`,
    );
  }
  return wireChoice(toolChoice) === undefined ? { tools } : { tools, toolChoice };
}
