/** What a session must remember of its traces after a restart, so that later calls continue them. */
import type { Trace } from "../../core/trace.ts";
import { chainMessages, type Conversation, promptKey } from "./conversation.ts";
import { joinedTokens } from "../store/joined-tokens.ts";

export interface Restorable {
  readonly conversation: Conversation;
  countPrompt(prompt: string, trajectoryUid: string | null): unknown;
}

/**
 * Takes the traces back in, by order of dispatch, and returns the next sequence number. Continuations
 * of plain-text prompts are not known again: they begin a new row.
 */
export function restoreSession(session: Restorable, traces: readonly Trace[]): number {
  for (const trace of traces) {
    const { trajectoryUid, promptIds, choice } = trace;
    if (choice === 0) session.countPrompt(promptKey(promptIds), trajectoryUid);
    const isRaw = trace.protocol === "openai-completions";
    if (trace.untrainable !== undefined || isRaw) continue;
    session.conversation.add(chainMessages(trace.messages, trace.tools), {
      traceId: trace.id,
      trajectoryUid,
      response: trace.response,
      tokens: joinedTokens(trace),
    });
  }
  return (traces.at(-1)?.sequence ?? -1) + 1;
}
