/** The execution providers that can be chosen, whether or not they work on this machine. */
import type { Operators } from "./graph/graph.ts";

export const providers = ["cpu", "cpu-bf16", "webgpu", "cuda", "coreml", "dml"] as const;
export type Provider = (typeof providers)[number];

/**
 * The CPU's fused operators are missing on other providers, or leave outputs unwritten that gradients need.
 */
export function operatorsFor(provider: string): Operators {
  return isProcessor(provider) ? "fused" : "standard";
}

/** `cpu-bf16` is the processor with products of matrices in bf16, by instructions that ARM64 processors have. */
export function isProcessor(provider: string): boolean {
  return provider === "cpu" || provider === "cpu-bf16";
}
