/** A sampler in this process as a source of tokens. */
import type { Sampler } from "../../core/policy.ts";
import type { TokenSource } from "./token-source.ts";

export function samplerSource(sampler: Sampler): TokenSource {
  return {
    get contextLength() {
      return sampler.contextLength;
    },
    get appliesLogitRules() {
      return sampler.appliesLogitRules === true;
    },
    sample: async ({ tokens, params, n, signal, onChunk }) => ({
      samples: await sampler.sample({
        tokens,
        params,
        n,
        signal,
        ...(onChunk ? { onChunk } : {}),
      }),
      logprobKind: "raw",
    }),
  };
}
