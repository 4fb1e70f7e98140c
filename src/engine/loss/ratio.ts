/** The ratio of a token's probability to that when it was sampled, limited as `log-ratio.ts` says. */
import { maxLogRatio } from "../../core/log-ratio.ts";
import type { Value } from "../graph/graph.ts";
import { clip, exp, subtract } from "../graph/ops.ts";

/** l - o within ±20; no gradient outside. */
export function limitedLogRatio(logprobs: Value, samplingLogprobs: Value): Value {
  return clip(subtract(logprobs, samplingLogprobs), -maxLogRatio, maxLogRatio);
}

/** exp(l - o). */
export function tokenRatio(logprobs: Value, samplingLogprobs: Value): Value {
  return exp(limitedLogRatio(logprobs, samplingLogprobs));
}
