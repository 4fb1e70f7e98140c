/**
 * Calls with n > 1: the choices that the agent went on with are behaviour, the others are drafts. A
 * choice was gone on with when a later prompt begins with it; if none was, the first one stands.
 */
import type { Trace } from "../core/trace.ts";

export interface Choices {
  /** In the order given. */
  readonly chosen: readonly Trace[];
  /** Calls, the choices of one counted once. */
  readonly calls: number;
}

/** Whether the prompt of `later` begins with what `trace` was given and answered, id by id. */
function continues(later: Trace, trace: Trace): boolean {
  const { promptIds, responseIds } = trace;
  const length = promptIds.length + responseIds.length;
  return (
    later.sequence > trace.sequence &&
    length > 0 &&
    later.promptIds.length >= length &&
    promptIds.every((id, i) => later.promptIds[i] === id) &&
    responseIds.every((id, i) => later.promptIds[promptIds.length + i] === id)
  );
}

function chooseOf(choices: readonly Trace[], all: readonly Trace[]): readonly Trace[] {
  const [first] = choices;
  if (choices.length === 1 || first === undefined) return choices;
  const parents = new Set(all.map((trace) => trace.parentId));
  const extended = choices.filter((choice) => parents.has(choice.id));
  if (extended.length > 0) return extended;
  // Several choices may hold the same ids; one continuation is one choice.
  const sameIds = choices.find((choice) => all.some((later) => continues(later, choice)));
  return [sameIds ?? first];
}

/** @param traces by order of dispatch, and by choice within a call. */
export function chooseChoices(traces: readonly Trace[]): Choices {
  const byCall = new Map<string, Trace[]>();
  for (const trace of traces) {
    // A call that failed may have no response id; it is a call of its own.
    const key = trace.responseId === "" ? `trace:${trace.id}` : `response:${trace.responseId}`;
    const choices = byCall.get(key);
    if (choices === undefined) byCall.set(key, [trace]);
    else choices.push(trace);
  }
  const kept = new Set<Trace>();
  for (const choices of byCall.values()) {
    for (const trace of chooseOf(choices, traces)) kept.add(trace);
  }
  return { chosen: traces.filter((trace) => kept.has(trace)), calls: byCall.size };
}
