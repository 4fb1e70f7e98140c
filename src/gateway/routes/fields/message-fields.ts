/** What requests of every protocol of messages say about tools, thinking, logits and the response's form. */
import type { JsonObject, ToolDefinition } from "../../../core/message.ts";
import { defined } from "../../../util/defined.ts";
import type { JsonFields } from "../../../util/json-object.ts";
import type { CallRequest } from "../../call/call-request.ts";
import type { TargetAbilities } from "../../targets/target.ts";
import { readCalls, readLogits } from "./logit-fields.ts";
import { readTools } from "./request-fields.ts";
import { readServerFields } from "./server-fields.ts";
import { readThinking } from "./thinking.ts";
import { readToolChoice } from "./tool-choice.ts";

type MessageFields = Pick<
  CallRequest,
  | "effort"
  | "logits"
  | "serverFields"
  | "serverFieldsText"
  | "singleCall"
  | "strictTools"
  | "thinking"
  | "toolChoice"
  | "tools"
>;

export interface MessageParts {
  readonly parseTool: (tool: unknown, at: string) => ToolDefinition;
  /** As `readFormat` gives it. */
  readonly format: JsonObject | undefined;
}

/** @throws ApiError 400 naming the field. */
export function readMessageFields(
  body: JsonFields,
  { parseTool, format }: MessageParts,
  abilities: TargetAbilities,
): MessageFields {
  const { tools, toolChoice } = readToolChoice(body, readTools(body, parseTool));
  return {
    tools,
    ...defined({ toolChoice }),
    ...readServerFields(body, format, toolChoice, abilities),
    ...readLogits(body, abilities),
    ...readThinking(body),
    ...readCalls(body),
  };
}
