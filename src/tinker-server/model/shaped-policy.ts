/** The base with room for an adapter of one rank and scale, whose factors change from use to use. */
import { withNewAdapter, writeTrained, type Policy } from "../../engine/decoder/policy.ts";
import { copyFactors, type AdapterWeights } from "./adapter.ts";

/** Rank 0 is the base alone. */
export function shapePolicy(base: Policy, { rank, alpha }: AdapterWeights): Policy {
  return rank === 0 ? base : withNewAdapter(base, { rank, alpha });
}

/** @throws RequestError 400 where they do not fit; nothing is written then. */
export async function writeAdapter(policy: Policy, { factors }: AdapterWeights): Promise<void> {
  copyFactors(factors, policy.data);
  await writeTrained(policy, policy.weights);
}
