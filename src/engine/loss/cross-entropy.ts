/** Supervised learning: -l, l = log p(token). */
import { negate } from "../graph/ops.ts";
import type { TokenLoss } from "./token-loss.ts";

export const crossEntropy: TokenLoss = ({ logprobs }) => ({ terms: negate(logprobs) });
