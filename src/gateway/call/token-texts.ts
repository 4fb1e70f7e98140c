/** Sampled tokens as text, with the alternatives to each. */
import type { Renderer } from "../../core/policy.ts";
import type { Completion, TokenText } from "./call-request.ts";

/** One for each log-probability of `completion`: as the server wrote it, or as the renderer reads it. */
export function tokenTextsOf(completion: Completion, renderer: Renderer): readonly TokenText[] {
  const { tokens, logprobs, tokenTexts } = completion;
  if (tokenTexts) return tokenTexts.slice(0, logprobs.length);
  return Array.from(logprobs, (_, i) => ({
    text: renderer.decode(tokens.subarray(i, i + 1)),
    topLogprobs: [],
  }));
}
