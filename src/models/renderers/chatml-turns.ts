/** ChatML's turns: `<|im_start|>role\ntext<|im_end|>\n`, tool calls and results in Qwen's format. */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { markup, plain, type Part } from "./token-builder.ts";
import type { ToolFormat } from "./tool-formats/tool-format.ts";

export const turnStart = "<|im_start|>";
export const turnEnd = "<|im_end|>";

/** The messages, with the default system prompt if they have none. */
export function withSystem(
  messages: readonly ChatMessage[],
  defaultSystem: string | undefined,
): readonly ChatMessage[] {
  if (defaultSystem === undefined || messages[0]?.role === "system") return messages;
  return [{ role: "system", content: defaultSystem }, ...messages];
}

/** The system turn that presents the tools, after the system prompt, if any. */
export function toolsTurn(
  system: ChatMessage | undefined,
  tools: readonly ToolDefinition[],
  format: ToolFormat,
): readonly Part[] {
  return [
    markup(`${turnStart}system\n`),
    ...(system === undefined
      ? []
      : [plain(messageText(system.content, { image: "refuse" })), markup("\n\n")]),
    ...format.describe(tools),
    markup(`${turnEnd}\n`),
  ];
}

/** A turn of any role; `content` precedes the calls. */
export function textTurn(
  message: ChatMessage,
  content: readonly Part[],
  hasContent: boolean,
  format: ToolFormat,
): readonly Part[] {
  const calls = (message.toolCalls ?? []).flatMap((call, i) => [
    ...(i > 0 || hasContent ? [markup("\n")] : []),
    ...format.call(call.name, call.arguments),
  ]);
  return [markup(`${turnStart}${message.role}\n`), ...content, ...calls, markup(`${turnEnd}\n`)];
}

/** One result; those of parallel calls share one user turn. */
export function resultTurn(
  message: ChatMessage,
  before: ChatMessage | undefined,
  after: ChatMessage | undefined,
): readonly Part[] {
  return [
    markup(`${before?.role === "tool" ? "" : `${turnStart}user`}\n<tool_response>\n`),
    plain(messageText(message.content, { image: "refuse" })),
    markup(`\n</tool_response>${after?.role === "tool" ? "" : `${turnEnd}\n`}`),
  ];
}
