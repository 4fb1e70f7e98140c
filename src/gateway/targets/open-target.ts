/** The target that a backend or a user gives, as the gateway uses it. */
import type { InferenceTarget } from "../../core/backend.ts";
import type { Sampler } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { createHttpTarget } from "./workers/http-target.ts";
import type { Target, TargetServices } from "./target.ts";
import { createTokenTarget } from "./token-target.ts";
import type { TokenSource } from "./token-source.ts";

/** @throws ConfigError for a target that cannot be used. */
export function openTarget(target: InferenceTarget, services: TargetServices): Target {
  if (target.kind === "http") return createHttpTarget(target, services);
  return createTokenTarget(samplerSource(target.sampler), target.renderer, services.promptLimit);
}

/** A sampler in this process as a source of tokens. */
export function samplerSource(sampler: Sampler): TokenSource {
  return {
    get contextLength() {
      return sampler.contextLength;
    },
    get appliesLogitRules() {
      return sampler.appliesLogitRules === true;
    },
    sample: async ({ tokens, params, n, adapter, signal, onChunk }) => ({
      samples: await sampler.sample({
        tokens,
        params,
        n,
        signal,
        ...defined({ adapter, onChunk }),
      }),
      logprobKind: "raw",
    }),
  };
}
