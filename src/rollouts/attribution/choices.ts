/**
 * Calls with n > 1: the choices that the agent used are behavior, the others are drafts. A reward
 * must not go to a draft, so a choice counts as used only on evidence:
 *
 * - a report names it
 * - a later prompt begins with it, id by id, or a later request holds it as an assistant message
 * - the output of the rollout is its text
 * - all choices hold the same tokens, so that it does not matter
 *
 * Without evidence, none is trained on, and the call is counted.
 */
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import type { Trace } from "../../core/trace.ts";
import { groupBy } from "../../util/group-by.ts";
import { continuesCall, hasPrefix } from "../../util/token-prefix.ts";

/** Evidence of which choice was used, in addition to the calls themselves. */
export interface ChoiceEvidence {
  /** Response id → choices that reports name. @default none */
  readonly named?: ReadonlyMap<string, ReadonlySet<number>>;
  /** Output texts of the rollout. @default none */
  readonly outputs?: readonly string[];
}

export interface Choices {
  /** In the order given. */
  readonly chosen: readonly Trace[];
  /** Calls, counting the choices of one call once. */
  readonly calls: number;
  /** Calls for which it is unknown which choice was used. */
  readonly undecided: number;
}

/** Whether `later` is a later call whose prompt begins with all of `trace`, which has ids. */
const continues = (later: Trace, trace: Trace): boolean =>
  later.sequence > trace.sequence &&
  trace.promptIds.length + trace.responseIds.length > 0 &&
  continuesCall(later.promptIds, trace);

const textOf = ({ content }: ChatMessage): string => messageText(content, { image: "drop" }).trim();

const callsOf = ({ toolCalls = [] }: ChatMessage): string =>
  JSON.stringify(toolCalls.map((call) => [call.name, call.arguments]));

const isEmpty = (message: ChatMessage): boolean =>
  textOf(message) === "" && (message.toolCalls ?? []).length === 0;

const saysTheSame = (a: ChatMessage, b: ChatMessage): boolean =>
  textOf(a) === textOf(b) && callsOf(a) === callsOf(b);

const sharesCallId = (a: ChatMessage, b: ChatMessage): boolean =>
  (a.toolCalls ?? []).some(({ id }) => (b.toolCalls ?? []).some((other) => other.id === id));

/** Assistant messages of later requests that came after the messages of this call. */
function laterResponses({ sequence, messages }: Trace, all: readonly Trace[]): ChatMessage[] {
  return all
    .filter((later) => later.sequence > sequence)
    .flatMap((later) =>
      later.messages.length > messages.length
        ? later.messages.slice(messages.length)
        : // The agent has shortened the conversation: only its new messages are evidence.
          later.messages.filter((message) => !messages.some((own) => saysTheSame(own, message))),
    )
    .filter(({ role }) => role === "assistant");
}

/** Choices that later requests hold as messages; only one of those with the same content. */
function chosenByMessages(choices: readonly Trace[], all: readonly Trace[]): readonly Trace[] {
  const [first] = choices;
  if (first === undefined) return [];
  const found = new Set<Trace>();
  for (const answer of laterResponses(first, all)) {
    if (isEmpty(answer)) continue;
    const same = choices.filter(({ response }) => saysTheSame(response, answer));
    const used = same.find(({ response }) => sharesCallId(response, answer)) ?? same[0];
    if (used !== undefined) found.add(used);
  }
  return choices.filter((choice) => found.has(choice));
}

const holdsSameIds = (a: Trace, b: Trace): boolean =>
  a.responseIds.length === b.responseIds.length && hasPrefix(a.responseIds, b.responseIds);

function chooseOf(
  choices: readonly Trace[],
  all: readonly Trace[],
  { named, outputs = [] }: ChoiceEvidence,
): readonly Trace[] {
  const [first] = choices;
  if (choices.length === 1 || first === undefined) return choices;
  const names = named?.get(first.responseId);
  if (names !== undefined) return choices.filter(({ choice }) => names.has(choice));
  const parents = new Set(all.map((trace) => trace.parentId));
  const extended = choices.filter((choice) => parents.has(choice.id));
  if (extended.length > 0) return extended;
  // Several choices may hold the same ids; one continuation is one choice.
  const sameIds = choices.find((choice) => all.some((later) => continues(later, choice)));
  if (sameIds !== undefined) return [sameIds];
  const inMessages = chosenByMessages(choices, all);
  if (inMessages.length > 0) return inMessages;
  const texts = new Set(outputs.map((output) => output.trim()));
  const putOut = choices.filter(
    ({ response }) => !isEmpty(response) && texts.has(textOf(response)),
  );
  const isOneText = new Set(putOut.map(({ response }) => textOf(response))).size === 1;
  if (isOneText) return putOut.slice(0, 1);
  return choices.every((choice) => holdsSameIds(choice, first)) ? [first] : [];
}

/** @param traces by order of dispatch, and by choice within a call. */
export function selectContinuedChoices(
  traces: readonly Trace[],
  evidence: ChoiceEvidence = {},
): Choices {
  // A call that failed may have no response id; it is a separate call.
  const byCall = groupBy(traces, ({ id, responseId }) =>
    responseId === "" ? `trace:${id}` : `response:${responseId}`,
  );
  const kept = new Set<Trace>();
  let undecided = 0;
  for (const choices of byCall.values()) {
    const chosen = chooseOf(choices, traces, evidence);
    if (chosen.length === 0) undecided++;
    for (const trace of chosen) kept.add(trace);
  }
  return { chosen: traces.filter((trace) => kept.has(trace)), calls: byCall.size, undecided };
}
