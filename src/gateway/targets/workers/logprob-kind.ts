/** Which log-probabilities a worker gives. */
import type { Trace } from "../../../core/trace.ts";
import type { Worker, WorkerFacts } from "./worker.ts";

/** As its owner says, or as its kind does by default: SGLang after temperature, others before. */
export function logprobKindOf(worker: Worker, facts: WorkerFacts): Trace["logprobKind"] {
  return worker.spec.logprobKind ?? (facts.kind === "sglang" ? "processed" : "raw");
}
