/** What rendering examples needs of a backend that has started. */
import type { InferenceTarget } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";

export interface TargetFacts {
  readonly renderer: Renderer;
  readonly contextLength: number;
}

/** @throws ConfigError for inference servers whose chat template is not known here. */
export function factsOf(target: InferenceTarget, backend: string): TargetFacts {
  if (target.kind === "sampler") {
    const { renderer, sampler } = target;
    return { renderer, contextLength: sampler.contextLength };
  }
  const { renderer, contextLength = Infinity } = target;
  if (renderer !== undefined) return { renderer, contextLength };
  throw new ConfigError({
    message: `The backend ${JSON.stringify(backend)} has no tokenizer of the model, which fine-tuning needs to render conversations.`,
    hint: "Use a model whose tokenizer.json the backend can read.",
    fields: { backend },
  });
}
