/** `<tool_call>` ... `</tool_call>` in generated text, several for parallel calls. */
import type { ParsedCompletion } from "../../../core/policy.ts";
import { defined } from "../../../util/defined.ts";
import type { ReadCall } from "./tool-format.ts";

export const callStart = "<tool_call>";
export const callEnd = "</tool_call>";

/** Never throws; calls that `readCall` refuses stay content. */
export function parseTaggedCalls(
  text: string,
  readCall: (body: string) => ReadCall,
): ParsedCompletion {
  const toolCalls: { name: string; arguments: string }[] = [];
  let content = "";
  let malformed: string | undefined;
  let at = 0;
  for (let start = text.indexOf(callStart); start !== -1; start = text.indexOf(callStart, at)) {
    const end = text.indexOf(callEnd, start);
    const after = end === -1 ? text.length : end + callEnd.length;
    const call =
      end === -1
        ? `a tool call is not closed by ${callEnd}`
        : readCall(text.slice(start + callStart.length, end));
    if (typeof call === "string") {
      malformed ??= call;
      content += text.slice(at, after);
    } else {
      content += text.slice(at, start);
      toolCalls.push(call);
    }
    at = after;
  }
  content += text.slice(at);
  return {
    content: toolCalls.length > 0 ? content.trim() : content,
    toolCalls,
    ...defined({ malformed }),
  };
}
