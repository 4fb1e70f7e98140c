/**
 * Conversations within a trajectory: calls that continue each other, and which call had begun another one, as
 * agents do with sub-agents, titles and summaries. Found from what was captured; agents do not report it.
 */
import type { Trace } from "../../core/trace.ts";
import type { Step } from "../../core/trajectory.ts";
import type { ViewThread } from "../api/conversation.ts";
import { messageText } from "../../core/message-text.ts";

interface OpenThread {
  readonly calls: number[];
  readonly parent: number | null;
  readonly depth: number;
  last: Trace;
}

/** Tools by which agents start others. */
const startsAgents = /^(?:task|agent|dispatch_agent|spawn_agent|subagent|delegate\w*)$/iu;

const systemOf = ({ messages }: Trace): string => {
  const [first] = messages;
  return first?.role === "system" ? messageText(first.content) : "";
};

/** A line of a file may lack what a trace always has. */
const toolsOf = ({ tools }: Partial<Trace>): string =>
  (tools ?? []).map(({ name }) => name).join("\n");

/** Same instructions, tools and rule. A history may have been edited or compacted in between. */
const isSameAgent = (a: Trace, b: Trace): boolean =>
  a.sideCall === b.sideCall && systemOf(a) === systemOf(b) && toolsOf(a) === toolsOf(b);

/** A call that began while another ran does not continue it. */
const isAfter = (trace: Trace, before: Trace): boolean => !(trace.startedAt < before.finishedAt);

/** The call that most likely began `trace`: one that waits for its tools, best for one that starts agents. */
function parentOf(trace: Trace, threads: readonly OpenThread[]): OpenThread | undefined {
  const waiting = threads.filter(({ last }) => isAfter(trace, last) && last !== trace);
  const score = ({ last, depth }: OpenThread): number => {
    const tools = last.response.toolCalls ?? [];
    const rank = tools.some(({ name }) => startsAgents.test(name)) ? 2 : tools.length > 0 ? 1 : 0;
    return rank * 1000 - depth;
  };
  return waiting.reduce<OpenThread | undefined>(
    (best, one) => (best === undefined || score(one) > score(best) ? one : best),
    undefined,
  );
}

function nameOf(first: Trace, at: number): string {
  if (first.sideCall !== undefined) return `side call by the rule "${first.sideCall}"`;
  if (at === 0) return "main";
  const asked = first.messages.find(({ role }) => role === "user");
  const text = asked === undefined ? "" : messageText(asked.content).trim().slice(0, 80);
  return text === "" ? `conversation ${at + 1}` : text.replaceAll(/\s+/gu, " ");
}

export interface Threads {
  /** Index of the thread of each step. */
  readonly of: readonly number[];
  /** Numbers of calls count from `first`. */
  readonly threads: readonly ViewThread[];
}

/** @param first number of the trajectory's first call within the episode */
export function findThreads(steps: readonly Step[], first: number): Threads {
  const threads: OpenThread[] = [];
  const byTrace = new Map<string, number>();
  const of: number[] = [];
  for (const [i, { trace }] of steps.entries()) {
    const continued = trace.parentId === null ? undefined : byTrace.get(trace.parentId);
    const at =
      continued ??
      threads.findLastIndex(({ last }) => isAfter(trace, last) && isSameAgent(trace, last));
    const thread = threads[at];
    if (thread === undefined) {
      const parent = parentOf(trace, threads);
      threads.push({
        calls: [first + i],
        parent: parent?.calls.at(-1) ?? null,
        depth: parent === undefined ? 0 : parent.depth + 1,
        last: trace,
      });
    } else {
      thread.calls.push(first + i);
      thread.last = trace;
    }
    of.push(thread === undefined ? threads.length - 1 : at);
    byTrace.set(trace.id, of.at(-1) ?? 0);
  }
  return {
    of,
    threads: threads.map(({ calls, parent, depth }, at) => ({
      name: nameOf(steps[(calls[0] ?? first) - first]!.trace, at),
      calls,
      parent,
      depth,
    })),
  };
}
