/** What must have been captured, whatever the client. */
import assert from "node:assert/strict";
import type { Protocol, Trace } from "../../src/core/trace.ts";
import { messageText } from "../../src/core/message-text.ts";
import { sampledIds, sampledLogprobs, renderer } from "./targets.ts";

export interface ExpectedCall {
  readonly protocol: Protocol;
  readonly response: string;
  /** Ids that were drawn, when fewer than the whole answer. */
  readonly sampled?: number;
  readonly stopReason?: "stop" | "length";
  /** What the client was shown. */
  readonly text?: string;
  /** Place of the call that this one continues. */
  readonly parent?: number;
}

/** Where a server renders, it decides whether the ids of the earlier turn come back; then that is proven. */
function assertExtends(trace: Trace, parent: Trace): void {
  const previous = [...parent.promptIds, ...parent.responseIds];
  const beginning = Array.from(trace.promptIds.subarray(0, previous.length));
  const isServerRendered = trace.worker !== undefined && trace.sampling.stopTokenIds.length === 0;
  if (isServerRendered && trace.parentId === null) {
    assert.notDeepEqual(beginning, previous, "an extension that was not recognised");
    return;
  }
  assert.deepEqual(beginning, previous, "prefix");
  assert.equal(trace.parentId, parent.id, "parent");
}

/** Compares each trace with what is expected of it, in order. */
export function assertCaptured(traces: readonly Trace[], expected: readonly ExpectedCall[]): void {
  assert.equal(traces.length, expected.length, "number of captured calls");
  for (const [i, want] of expected.entries()) {
    const trace = traces[i] as Trace;
    const ids = sampledIds(want.response, want.sampled);
    assert.deepEqual(Array.from(trace.responseIds), ids, "sampled ids");
    assert.deepEqual(Array.from(trace.logprobs), sampledLogprobs(ids), "logprobs");
    assert.equal(trace.protocol, want.protocol);
    assert.equal(trace.stopReason, want.stopReason ?? "stop");
    assert.equal(trace.untrainable, undefined);
    assert.equal(trace.model, "scripted");
    assert.equal(trace.weightVersion, 3);
    assert.equal(trace.sequence, i);
    if (want.text !== undefined) assert.equal(messageText(trace.response.content), want.text);
    if (want.parent !== undefined) assertExtends(trace, traces[want.parent] as Trace);
    else if (want.protocol !== "openai-completions") {
      const { messages, tools } = trace;
      assert.equal(trace.parentId, null, "parent");
      assert.deepEqual(trace.promptIds, renderer.render(messages, { tools }).tokens, "prompt");
    }
  }
}
