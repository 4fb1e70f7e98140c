/**
 * Random rollouts of agents that compact, fork, start sub-agents, repeat and edit, as token ids; with what each
 * sampled token was sampled after, which is all that an oracle needs to know.
 */
import type { CallKind } from "../../src/core/lineage-kinds.ts";
import type { Trace } from "../../src/core/trace.ts";
import { createRandom } from "../../src/util/random.ts";
import { makeStep } from "../make-step.ts";

/** A sampled token, known by its log-probability, which no other one of the history has. */
export interface SampledToken {
  readonly id: number;
  /** Everything before it. */
  readonly context: readonly number[];
  readonly call: string;
}

export interface History {
  /** By order of dispatch. */
  readonly traces: readonly Trace[];
  /** Log-probability → what was sampled with it, of the calls that can be trained on. */
  readonly sampled: ReadonlyMap<number, SampledToken>;
  /** Ids of calls, by the conversation that they were made in; where ids cannot coincide, its lineages. */
  readonly conversations: readonly (readonly string[])[];
  /** Calls that a rule would exclude. */
  readonly kinds: ReadonlyMap<string, CallKind>;
}

interface Conversation {
  tokens: readonly number[];
  /** Where its last call that can be trained on ends; 0 without one. */
  end: number;
  readonly calls: string[];
  readonly isSubAgent: boolean;
}

/** @param vocabulary with few ids, conversations begin alike or are the same */
export function randomHistory(seed: number, vocabulary: number, sessionUid: string): History {
  const random = createRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const ids = (least: number, most: number): number[] =>
    Array.from({ length: least + below(most - least + 1) }, () => below(vocabulary));
  const open = (tokens: readonly number[], isSubAgent = false): Conversation => {
    const conversation = { tokens, end: 0, calls: [], isSubAgent };
    all.push(conversation);
    return conversation;
  };
  /** A place before the end of its last call, so that what begins there does not continue it. */
  const within = ({ tokens, end }: Conversation): number =>
    below(Math.max(1, end || tokens.length));

  const traces: Trace[] = [];
  const sampled = new Map<number, SampledToken>();
  const kinds = new Map<string, CallKind>();
  const all: Conversation[] = [];
  let drawn = 0;

  const call = (conversation: Conversation, isSummary = false): readonly number[] => {
    const response = ids(0, 6);
    const sideCall = isSummary ? "summary" : conversation.isSubAgent ? "sub-agent" : undefined;
    const id = `call-${traces.length}`;
    const isWhole = random() > 0.04;
    const logprobs = Float32Array.from(response, () => -++drawn / 1024);
    const prompt = conversation.tokens;
    if (isWhole) {
      const before = [...prompt];
      for (const [i, token] of response.entries()) {
        sampled.set(logprobs[i]!, { id: token, context: [...before], call: id });
        before.push(token);
      }
      if (response.length > 0) {
        conversation.calls.push(id);
        conversation.end = before.length;
      }
    }
    if (sideCall !== undefined) kinds.set(id, isSummary ? "summary" : "sub_agent");
    const step = makeStep({
      ...{ id, responseId: `r-${id}`, sessionUid, sequence: traces.length },
      promptIds: Int32Array.from(prompt),
      responseIds: Int32Array.from(response),
      logprobs: isWhole ? logprobs : logprobs.map(() => Number.NaN),
      ...(sideCall === undefined ? {} : { sideCall }),
    });
    traces.push(step.trace);
    conversation.tokens = [...prompt, ...response];
    return response;
  };
  const add = (conversation: Conversation, tokens: readonly number[]): void => {
    conversation.tokens = [...conversation.tokens, ...tokens];
  };

  const instructions = ids(2, 5);
  let running = open([...instructions, ...ids(1, 4)]);
  const turns = 2 + below(10);
  for (let turn = 0; turn < turns; turn++) {
    const kind = random();
    if (kind < 0.15) {
      // It writes a summary, at the end of what it says or in a call of its own, and begins anew with it.
      const isOwn = random() < 0.5;
      const writer = isOwn ? open([...ids(1, 3), ...running.tokens]) : running;
      add(writer, ids(1, 3));
      const summary = call(writer, true);
      running = open([...instructions, ...summary, ...ids(1, 3)]);
    } else if (kind < 0.3) {
      // A sub-agent, which may start one itself; then the parent reads what it wrote.
      const sub = open(ids(2, 6), true);
      let last: readonly number[] = [];
      for (let i = 0; i <= below(3); i++) {
        add(sub, ids(1, 3));
        last = call(sub);
        // The parent, or another conversation, goes on meanwhile.
        if (random() < 0.3) {
          add(running, ids(1, 2));
          call(running);
        }
      }
      add(running, [...last, ...ids(1, 2)]);
    } else if (kind < 0.4) {
      // A fork from an earlier point of any conversation.
      const from = all[below(all.length)]!;
      running = open([...from.tokens.slice(0, within(from)), vocabulary, ...ids(0, 2)]);
    } else if (kind < 0.45) {
      // It edits its history: what stays the same is context.
      running = open(running.tokens.with(within(running), vocabulary + 1 + turn));
    } else if (kind < 0.5) {
      // The same prompt again, and the first response is forgotten.
      const prompt = running.tokens;
      const { length } = running.calls;
      call(running);
      if (running.calls.length > length) running = open(prompt);
    } else if (kind < 0.55 && all.length > 1) {
      running = all[below(all.length)]!;
    }
    add(running, ids(1, 4));
    call(running);
  }
  return {
    traces,
    sampled,
    conversations: all.map(({ calls }) => calls).filter((calls) => calls.length > 0),
    kinds,
  };
}
