/** The execution providers that can be chosen, whether or not they work on this machine. */
import type { Operators } from "./graph/graph.ts";

export const providers = ["cpu", "webgpu", "cuda", "coreml", "dml"] as const;
export type Provider = (typeof providers)[number];

/**
 * The CPU's fused operators are missing on other providers, or leave outputs unwritten that gradients need.
 */
export function operatorsFor(provider: string): Operators {
  return provider === "cpu" ? "fused" : "standard";
}
