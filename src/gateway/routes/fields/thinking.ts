/** Whether the model is to reason first, in every way in which clients ask for it. */
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { CallRequest } from "../../call/call-request.ts";
import { readBoolean, readObject, readString } from "../../http/json-fields.ts";
import { unsupported } from "./refusals.ts";

type Thinking = Pick<CallRequest, "effort" | "thinking">;

/** Names of the variable in chat templates. */
const variables: ReadonlySet<string> = new Set(["enable_thinking", "thinking"]);

/** @param entry of `chat_template_kwargs` */
export const isThinkingVariable = ([name, value]: readonly [string, unknown]): boolean =>
  variables.has(name) && typeof value === "boolean";

/** OpenAI's efforts: whether the model reasons at all. */
const efforts: Readonly<Record<string, boolean>> = {
  none: false,
  minimal: false,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
};

function ofEffort(fields: JsonFields, name: string, at: string): Thinking | undefined {
  const effort = readString(fields, name, at);
  if (effort === undefined) return undefined;
  const thinking = Object.hasOwn(efforts, effort) ? efforts[effort] : undefined;
  if (thinking === undefined)
    throw unsupported(at, effort, `Use one of ${Object.keys(efforts).join(", ")}.`);
  return { thinking, effort };
}

/** `reasoning` of the Responses API, and of routers that speak OpenAI's chat API. */
function ofReasoning(body: JsonFields): Thinking | undefined {
  const reasoning = readObject(body, "reasoning") ?? {};
  const effort = ofEffort(reasoning, "effort", "reasoning.effort");
  if (effort !== undefined) return effort;
  const thinking = readBoolean(reasoning, "enabled");
  return thinking === undefined ? undefined : { thinking };
}

/** `thinking` as Anthropic has it. */
function ofThinking(body: JsonFields): Thinking | undefined {
  const { type } = readObject(body, "thinking") ?? {};
  if (type === undefined || type === null) return undefined;
  if (type === "disabled") return { thinking: false };
  if (type === "enabled" || type === "adaptive" || type === "auto") return { thinking: true };
  throw unsupported("thinking.type", type, 'Use "enabled", "adaptive" or "disabled".');
}

function ofVariables({ chat_template_kwargs: given }: JsonFields): Thinking | undefined {
  const found = Object.entries(isJsonObject(given) ? given : {}).find(isThinkingVariable);
  return found && { thinking: found[1] as boolean };
}

/** Nothing where nothing was asked; of several that were, the first. @throws ApiError 400 naming the field. */
export function readThinking(body: JsonFields): Thinking {
  return {
    ...ofThinking(body),
    ...ofReasoning(body),
    ...ofEffort(body, "reasoning_effort", "reasoning_effort"),
    ...ofVariables(body),
  };
}
