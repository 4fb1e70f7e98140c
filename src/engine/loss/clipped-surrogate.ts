/** What PPO and GSPO share: -min(r A, clip(r, low, high) A), and where the clipped product is the smaller one. */
import type { Value } from "../graph/graph.ts";
import { clip, minimum, multiply, negate } from "../graph/ops.ts";
import type { LossParameters } from "./parameters.ts";
import type { TokenLossTerms } from "./token-loss.ts";

export function clippedSurrogate(
  ratio: Value,
  advantages: Value,
  { lowestRatio, highestRatio }: LossParameters,
): Required<Pick<TokenLossTerms, "terms" | "clipped">> {
  const { graph, shape } = ratio;
  const plain = multiply(ratio, advantages);
  const limited = multiply(clip(ratio, lowestRatio, highestRatio), advantages);
  return {
    terms: negate(minimum(plain, limited)),
    clipped: graph.node("Less", [limited, plain], shape, { dtype: "bool" }),
  };
}
