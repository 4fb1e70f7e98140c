/** Traces for tests of stores. */
import { randomUUID } from "node:crypto";
import type { ChatMessage } from "../../../src/core/message.ts";
import type { Trace } from "../../../src/core/trace.ts";
import type { SessionRecord } from "../../../src/gateway/store/trace-store.ts";
import { createRandom } from "../../../src/util/random.ts";

export function makeTrace(fields: Partial<Trace> = {}): Trace {
  return {
    id: randomUUID(),
    responseId: `chatcmpl-${randomUUID().replaceAll("-", "")}`,
    sessionUid: "s",
    trajectoryUid: null,
    sequence: 0,
    choice: 0,
    protocol: "openai-chat",
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    tools: [],
    response: { role: "assistant", content: "yo" },
    promptIds: Int32Array.of(1, 2, 300, 150_000),
    responseIds: Int32Array.of(5, 0, 70_000),
    logprobs: Float32Array.of(-0.1, -1e-9, -12.5),
    logprobKind: "raw",
    stopReason: "stop",
    weightVersion: 3,
    sampling: {
      temperature: 0.7,
      topP: 1,
      topK: 0,
      minP: 0,
      maxTokens: 512,
      stopTokenIds: [2],
      seed: 123_456_789,
    },
    parentId: null,
    startedAt: 1_790_000_000_000,
    finishedAt: 1_790_000_000_500,
    ...fields,
  };
}

export function makeSession(fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    uid: "s",
    seed: 7,
    sampling: { temperature: 0.5 },
    metadata: { task: "t1", nested: { list: [1, null] } },
    keyDigest: new Uint8Array(32).fill(9),
    createdAt: 1_790_000_000_000,
    ...fields,
  };
}

const vocabulary = 151_936;

/** Ids as a tokenizer gives them: small ones, which are the frequent ones, come more often. */
export function sampleIds(length: number, seed: number): Int32Array {
  const random = createRandom(seed);
  return Int32Array.from({ length }, () => Math.floor(vocabulary ** random()) - 1);
}

export function sampleLogprobs(length: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length }, () => Math.log(random() + 1e-9));
}

/** About four characters a token, as English has it. */
export function sampleText(tokens: number, seed: number): string {
  const random = createRandom(seed);
  const words: string[] = [];
  for (let length = 0; length < tokens * 4; length += words.at(-1)?.length ?? 0) {
    words.push(`${(Math.floor(4000 ** random()) * 7919).toString(26).slice(0, 7)} `);
  }
  return words.join("");
}

export function concatIds(...parts: readonly Int32Array[]): Int32Array {
  const all = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A conversation whose every turn continues the one before. */
export function makeConversation(sessionUid: string, turns: number, perTurn = 100): Trace[] {
  const traces: Trace[] = [];
  const messages: ChatMessage[] = [{ role: "system", content: sampleText(40, 1) }];
  for (let turn = 0; turn < turns; turn++) {
    const before = traces.at(-1);
    if (before) messages.push(before.response);
    messages.push({ role: "user", content: sampleText(perTurn, 10 + turn) });
    const added = sampleIds(perTurn, 50 + turn);
    const trace = makeTrace({
      sessionUid,
      sequence: turn,
      // Clients send everything anew, so nothing is the same object.
      messages: structuredClone(messages),
      response: { role: "assistant", content: sampleText(perTurn, 1000 + turn) },
      promptIds: before ? concatIds(before.promptIds, before.responseIds, added) : added,
      responseIds: sampleIds(perTurn, 2000 + turn),
      logprobs: sampleLogprobs(perTurn, turn),
      parentId: before?.id ?? null,
    });
    traces.push(trace);
  }
  return traces;
}
