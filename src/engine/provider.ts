/** What computes: the execution providers that can be chosen. Knows nothing of whether one works here. */
import type { Operators } from "./graph/graph.ts";

export const providers = ["cpu", "webgpu", "cuda", "coreml", "dml"] as const;
export type Provider = (typeof providers)[number];

/** The processor's own operators are missing elsewhere, or leave outputs unwritten that gradients need. */
export function operatorsFor(provider: string): Operators {
  return provider === "cpu" ? "fused" : "standard";
}
