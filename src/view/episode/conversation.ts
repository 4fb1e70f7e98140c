/** An episode's calls with what is new in each prompt: the conversation once, and where it breaks. */
import type { ChatMessage } from "../../core/message.ts";
import { callKinds, type CallKind } from "../../core/lineage-kinds.ts";
import { findLineages } from "../../core/lineages.ts";
import type { Episode, Step, Trajectory } from "../../core/trajectory.ts";
import type { ViewCall, ViewMessage, ViewTrajectory } from "../api/conversation.ts";
import { findThreads } from "./threads.ts";
import { isToolError, messageText } from "../../core/message-text.ts";

function viewMessage(message: ChatMessage): ViewMessage {
  const text = messageText(message.content);
  return {
    role: message.role,
    text,
    ...(message.reasoning === undefined ? {} : { reasoning: message.reasoning }),
    ...(message.toolCalls === undefined || message.toolCalls.length === 0
      ? {}
      : { toolCalls: message.toolCalls }),
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.toolCallId === undefined ? {} : { toolCallId: message.toolCallId }),
    ...(message.role === "tool" && isToolError(text) ? { isToolError: true } : {}),
  };
}

/** Tool calls as every text shows them: `→ price({"item":"tea"})`. */
export const toolCallTexts = ({ toolCalls = [] }: Pick<ViewMessage, "toolCalls">): string[] =>
  toolCalls.map(({ name, arguments: given }) => `→ ${name}(${given})`);

const same = (a: ChatMessage | undefined, b: ChatMessage | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** What a prompt adds to the conversation. */
export interface Added {
  readonly messages: readonly ChatMessage[];
  readonly break?: string;
}

const comparable = ({ content }: ChatMessage): string =>
  messageText(content, { image: "url" }).trim();

function callNames({ toolCalls = [] }: ChatMessage): string {
  return toolCalls.map(({ name, arguments: given }) => `${name} ${given}`).join("\n");
}

/** What of the prompt is new, compared with the call before. */
export function newMessages(step: Step, before: Step | undefined): Added {
  const { messages } = step.trace;
  if (before === undefined) return { messages };
  const earlier = before.trace.messages;
  let shared = 0;
  while (shared < earlier.length && same(messages[shared], earlier[shared])) shared++;
  if (shared < earlier.length) {
    const isShorter = messages.length < earlier.length;
    // The system prompt is shown once.
    const from = Math.max(shared, 0);
    return {
      messages: messages.slice(from),
      break: isShorter
        ? `The prompt is shorter than the one before: ${earlier.length - shared} of ${earlier.length} messages were replaced or left out (compaction, or a new conversation).`
        : `Message ${shared + 1} of ${earlier.length} differs from the call before: the agent edited its history.`,
    };
  }
  const copy = messages[shared];
  if (copy?.role !== "assistant") {
    return messages.length === earlier.length
      ? { messages: [], break: "The same prompt again: a retry, or another sample of it." }
      : {
          messages: messages.slice(shared),
          break: "The agent left the response of the call before out of its history.",
        };
  }
  const { response } = before.trace;
  const isEdited =
    comparable(copy) !== comparable(response) || callNames(copy) !== callNames(response);
  return isEdited
    ? {
        messages: messages.slice(shared),
        break: "The agent sent back another response than the model had written.",
      }
    : { messages: messages.slice(shared + 1) };
}

const length = (ids: ArrayLike<number> | undefined): number => ids?.length ?? 0;

function notesOf({ trace }: Step): string[] {
  return [
    ...(trace.malformed === undefined ? [] : [`malformed: ${trace.malformed}`]),
    ...(trace.unmet === undefined ? [] : [`not as requested: ${trace.unmet}`]),
    ...(trace.neededTokens === undefined
      ? []
      : [`max_tokens excluded some of what was allowed: that needs ${trace.neededTokens}`]),
    ...(trace.unenforced === undefined ? [] : [`not enforced: ${trace.unenforced.join("; ")}`]),
    ...(trace.sideCall === undefined ? [] : [`side call by the rule "${trace.sideCall}"`]),
    ...(trace.untrainable === undefined ? [] : [`cannot be trained on: ${trace.untrainable}`]),
    ...(trace.weightChanges === undefined || trace.weightChanges.length === 0
      ? []
      : [`weights changed ${trace.weightChanges.length} × while it was sampled`]),
  ];
}

interface CallPlace {
  /** Of the same conversation. */
  readonly before: Step | undefined;
  readonly k: number;
  readonly thread: number;
  /** What is known of its training. */
  readonly notes: readonly string[];
}

const kindTexts: Readonly<Record<CallKind, string>> = {
  summary: "a summary, with which a later row begins",
  sub_agent: "of a sub-agent",
};

/** In which row of several each call is trained, and what it is for; or why it is not trained on. */
function trainingNotes({ steps, untrained }: Trajectory): ReadonlyMap<Step, readonly string[]> {
  if (typeof untrained === "string")
    return new Map(steps.map((step) => [step, [`not trained on: ${untrained}`]]));
  const whole = steps.filter(
    ({ trace: { untrainable, promptIds, responseIds } }) =>
      untrainable === undefined && length(promptIds) > 0 && length(responseIds) > 0,
  );
  const { lineages } = findLineages(whole, ({ trace }) => trace.sampling?.temperature ?? 1);
  if (lineages.length < 2) return new Map();
  const kinds = callKinds(lineages);
  return new Map(
    lineages.flatMap((lineage, i) =>
      lineage.map((step) => {
        const kind = kinds.get(step);
        const row = `row ${i + 1} of ${lineages.length}`;
        return [step, [kind === undefined ? row : `${row}, ${kindTexts[kind]}`]] as const;
      }),
    ),
  );
}

function viewCall(step: Step, { before, k, thread, notes }: CallPlace): ViewCall {
  const { trace } = step;
  const { messages, break: why } = newMessages(step, before);
  return {
    k,
    ...(why === undefined ? {} : { break: why }),
    newMessages: messages.map(viewMessage),
    response: viewMessage(trace.response),
    promptTokens: trace.usage?.promptTokens ?? length(trace.promptIds),
    responseTokens: trace.usage?.completionTokens ?? length(trace.responseIds),
    stopReason: trace.stopReason,
    seconds: Math.max(0, (trace.finishedAt - trace.startedAt) / 1000) || 0,
    weightVersion: trace.weightVersion ?? null,
    tools: (trace.tools ?? []).map(({ name }) => name),
    notes: [...notesOf(step), ...notes],
    hasTokens: length(trace.responseIds) > 0,
    thread,
  };
}

/** All calls, numbered through the episode. */
export function viewTrajectories({ trajectories }: Episode): ViewTrajectory[] {
  let first = 0;
  return trajectories.map((trajectory) => {
    const { name, reward, steps } = trajectory;
    const notes = trainingNotes(trajectory);
    const { of, threads } = findThreads(steps, first);
    const last: (Step | undefined)[] = [];
    const calls = steps.map((step, i) => {
      const thread = of[i] ?? 0;
      const place = { before: last[thread], k: first + i, thread, notes: notes.get(step) ?? [] };
      const call = viewCall(step, place);
      last[thread] = step;
      return call;
    });
    first += steps.length;
    return { name, reward: typeof reward === "number" ? reward : null, calls, threads };
  });
}
