/** Steps made by hand, for tests of what is made of them. */
import { defaultSampling } from "../src/core/policy.ts";
import type { Trace } from "../src/core/trace.ts";
import type { Step } from "../src/core/trajectory.ts";

/** A trace of one call with one token sampled after one token of prompt. */
export function makeTrace(fields: Partial<Trace> = {}): Trace {
  return {
    id: "t",
    responseId: "response",
    sessionUid: "s",
    trajectoryUid: null,
    sequence: 0,
    choice: 0,
    protocol: "openai-chat",
    model: "m",
    messages: [],
    tools: [],
    response: { role: "assistant", content: "" },
    promptIds: Int32Array.of(1),
    responseIds: Int32Array.of(2),
    logprobs: Float32Array.of(-0.5),
    logprobKind: "raw",
    stopReason: "stop",
    weightVersion: 0,
    sampling: { ...defaultSampling, seed: 0, stopTokenIds: [] },
    parentId: null,
    startedAt: 0,
    finishedAt: 0,
    ...fields,
  };
}

export function makeStep(
  trace: Partial<Trace> = {},
  about: Partial<Omit<Step, "trace">> = {},
): Step {
  return { trace: makeTrace(trace), done: false, ...about };
}
