/** A call of a model from what any reader found: the one place that says whether it is whole. */
import { completenessOf } from "../../core/completeness.ts";
import { messageText } from "../../core/message-text.ts";
import type { ModelCall } from "../store/span.ts";
import { defined } from "../../util/defined.ts";
import { isCutJson } from "./cut-json.ts";
import { numberOf, textOf } from "./fields.ts";
import { endingOf } from "./endings.ts";
import type { ReadMessages } from "./read-messages.ts";
import type { ReadResponse } from "./read-response.ts";
import { readTools } from "./read-tools.ts";

/** What a record has; each field is to be named, `undefined` where the format has none. */
export interface RecordedCall {
  readonly model: unknown;
  readonly messages: ReadMessages;
  /** null where the call failed, or nothing was recorded. */
  readonly response: ReadResponse | null;
  readonly tools: unknown;
  /** All that says how the response ended, besides the response itself. */
  readonly ended: readonly unknown[];
  /** The request's limit of tokens: a response as long was cut off by it, unless it says how it ended. */
  readonly maxTokens: unknown;
  readonly promptTokens: unknown;
  readonly completionTokens: unknown;
  readonly responseId: unknown;
  readonly weightVersion?: unknown;
}

export function modelCall(call: RecordedCall): ModelCall {
  const { messages, response, ended } = call;
  const [maxTokens, completionTokens] = [numberOf(call.maxTokens), numberOf(call.completionTokens)];
  const ending = endingOf([...ended, ...(response?.reasons ?? [])]);
  const damage = new Set([...messages.damage, ...(response?.damage ?? []), ...ending.damage]);
  // Some write 0 or -1 for no limit.
  const isFull = maxTokens !== undefined && maxTokens > 0 && (completionTokens ?? 0) >= maxTokens;
  if (isFull && !ending.isKnown) damage.add("cut off");
  const said = response?.response ?? null;
  if (said !== null && isCutJson(messageText(said.content))) damage.add("attribute limit");
  if (ending.isCalling && said !== null && said.toolCalls === undefined)
    damage.add("lost arguments");
  return {
    model: textOf(call.model) ?? "",
    messages: messages.messages,
    tools: readTools(call.tools),
    response: said,
    completeness: completenessOf(damage, ending.isKnown ? "complete" : "unknown"),
    ...defined({
      promptTokens: numberOf(call.promptTokens),
      completionTokens,
      responseId: textOf(call.responseId),
      weightVersion: numberOf(call.weightVersion),
    }),
  };
}

const firstNumber = (from: Readonly<Record<string, unknown>>, names: readonly string[]): unknown =>
  names.map((name) => from[name]).find((value) => numberOf(value) !== undefined);

/** Tokens of a prompt and of a response, in the words of any service. */
export function tokensIn(
  usage: Readonly<Record<string, unknown>>,
): Pick<RecordedCall, "promptTokens" | "completionTokens"> {
  return {
    promptTokens: firstNumber(usage, ["prompt_tokens", "input_tokens", "input"]),
    completionTokens: firstNumber(usage, ["completion_tokens", "output_tokens", "output"]),
  };
}

/** The names that services give to a limit of tokens. */
export function maxTokensIn(...requests: readonly Readonly<Record<string, unknown>>[]): unknown {
  const names = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens"];
  return requests
    .flatMap((request) => [...names, "maxOutputTokens"].map((name) => request[name]))
    .map((value) => (typeof value === "string" ? Number(value) : value))
    .find((value) => numberOf(value) !== undefined);
}
