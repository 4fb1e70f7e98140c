/** What samples tokens: a sampler in this process, or workers that take prompts as token ids. */
import type { Sample, SampleRequest } from "../../core/policy.ts";
import type { Trace } from "../../core/trace.ts";

export interface SampleCallRequest extends SampleRequest {
  readonly n: number;
  readonly signal: AbortSignal;
  /** Calls with the same key share a prefix, so they are best sampled at the same place. */
  readonly affinity: string;
  /** True once the client has seen something; a sample may begin again only before. */
  readonly committed: () => boolean;
  /** Milliseconds until the call's deadline. */
  readonly remainingMs: () => number;
  /** Everything reported through `onChunk` is void: sampling begins again. */
  readonly onRestart: () => void;
}

export interface SampleCall {
  readonly samples: readonly Sample[];
  readonly logprobKind: Trace["logprobKind"];
  /** Id of the worker that sampled. */
  readonly worker?: string;
  /** The version of the weights is not known. */
  readonly isVersionUnknown?: true;
  /** Why it cannot be trained on. */
  readonly untrainable?: string;
}

export interface TokenSource {
  /** Longest prompt + completion; Infinity while it is not known. */
  readonly contextLength: number;
  /** It applies `SamplingParams.rules`. @default false */
  readonly appliesLogitRules?: boolean;
  /** Resolves when the context length is known, if it can be known. */
  ready?(): Promise<void>;
  sample(request: SampleCallRequest): Promise<SampleCall>;
}
