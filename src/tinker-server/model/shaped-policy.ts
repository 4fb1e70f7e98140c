/** The base with room for an adapter of one rank and scale, whose factors change from use to use. */
import { withNewAdapter, writeTrained, type Policy } from "../../engine/decoder/policy.ts";
import type { AdapterWeights } from "./adapter.ts";

/** Rank 0 is the base alone. */
export function shapePolicy(base: Policy, { rank, alpha }: AdapterWeights): Policy {
  return rank === 0 ? base : withNewAdapter(base, { rank, alpha });
}

export async function writeAdapter(policy: Policy, { factors }: AdapterWeights): Promise<void> {
  if (factors.size === 0) return;
  for (const [name, values] of factors) policy.data.get(name)!.set(values);
  await writeTrained(policy, policy.weights);
}
