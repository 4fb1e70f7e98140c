/** Several turns within one token budget, for turns that train as one sequence. */
import { TerminationEvent } from "../../core/termination.ts";
import type { ModelCallOptions, ModelOutput } from "./model-call.ts";
import { MultiTurnWorkflow, type MultiTurnArgs } from "./multi-turn.ts";

/** Arguments of a `CumulativeWorkflow`. */
export interface CumulativeArgs extends MultiTurnArgs {
  /** Maximum number of tokens after the first prompt, observations included. */
  readonly maxResponseLength: number;
}

/**
 * Each call is limited to the tokens that are left of `maxResponseLength`; when none are left, the
 * rollout ends without another call. `rollout.train.max_tokens` bounds each call, too.
 */
export class CumulativeWorkflow<Metadata = Record<string, unknown>> extends MultiTurnWorkflow<
  CumulativeArgs,
  Metadata
> {
  protected override limits(last: ModelOutput | null, first: ModelOutput | null): ModelCallOptions {
    const used =
      last === null || first === null
        ? 0
        : last.promptTokens + last.completionTokens - first.promptTokens;
    const left = this.args.maxResponseLength - used;
    if (left <= 0) throw new TerminationEvent("max_response_length_exceeded");
    return { max_tokens: left };
  }
}
