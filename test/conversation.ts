/** Test help: the steps of a conversation in which an environment answers each response. */
import type { ChatMessage } from "../src/core/message.ts";
import type { Step } from "../src/core/trajectory.ts";
import { byteTokens, createByteRenderer } from "../src/testing/byte-renderer.ts";
import { makeStep } from "./make-step.ts";

export const byteRenderer = createByteRenderer();
const call = { id: "1", name: "look", arguments: "{}" };

export const toolSays = (content: string): ChatMessage => ({
  role: "tool",
  content,
  toolCallId: "1",
});

/** One step for each answer, and a last one. @param first messages before the question */
export function conversation(
  answers: readonly (readonly ChatMessage[])[],
  first: readonly ChatMessage[] = [],
): Step[] {
  let messages: ChatMessage[] = [...first, { role: "user", content: "Q" }];
  let prompt = byteRenderer.render(messages).tokens;
  return [...answers, []].map((answer, i) => {
    const text = `r${i}`;
    const responseIds = Int32Array.of(...byteRenderer.encode!(text), byteTokens.turnEnd);
    const logprobs = new Float32Array(responseIds.length).fill(-1);
    const response: ChatMessage = { role: "assistant", content: text, toolCalls: [call] };
    const trace = { id: `t${i}`, messages, promptIds: prompt, responseIds, logprobs, response };
    messages = [...messages, response, ...answer];
    prompt = byteRenderer.extend(Int32Array.of(...prompt, ...responseIds), answer)!.tokens;
    return makeStep(trace);
  });
}
