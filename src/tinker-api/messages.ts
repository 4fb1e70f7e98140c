/** The messages that carry tokens and tensors, apart from how they are encoded. */
import type { FloatTensor, IdTensor, TinkerTensor } from "./codec/tensor.ts";

/** A run of positions of a datum that came from one sampling request. */
export interface ProvenanceSpan {
  /** Whether the run was sampled, or given as a prompt. */
  readonly isSampled: boolean;
  /** Name of the sampled sequence, or of one that was sampled after the prompt. */
  readonly sequenceId: string;
  /** First position of the run in the sampled tokens, or in the prompt. */
  readonly offset: number;
  readonly length: number;
}

/** One sequence to train on. */
export interface Datum {
  /** [N] what the model reads. */
  readonly tokens: Int32Array;
  /** [N] each; `target_tokens[i]` is predicted from tokens[0..i]. */
  readonly lossInputs: Readonly<Record<string, TinkerTensor>>;
  /** Where its targets came from, one run after the other. @default not said */
  readonly targetSpans?: readonly ProvenanceSpan[];
}

export interface ForwardBackwardRequest {
  readonly modelId: string;
  /** null where a client counts none. */
  readonly seqId: number | null;
  readonly data: readonly Datum[];
  readonly lossFn: string;
  readonly lossConfig: Readonly<Record<string, number>>;
  /** Neither gradients nor their accumulation. */
  readonly forwardOnly: boolean;
}

/** Result of a forward pass, with or without gradients. */
export interface ForwardBackwardOutput {
  /** For information. */
  readonly outputType: string;
  /** One per datum; `logprobs` [N] of the targets, under the weights before any step. */
  readonly outputs: readonly Readonly<Record<string, TinkerTensor>>[];
  /** `name:reduction`, as in `reduce.ts`. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** One sampled sequence. */
export interface TinkerSample {
  /** What ended it belongs to it. */
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array | null;
  readonly stopReason: "stop" | "length";
  /** [tokens] most likely tokens at each. @default not asked for */
  readonly topTokens?: readonly TopTokens[];
}

/** Most likely tokens at a position, most likely first; null where nothing comes before. */
export type TopTokens = readonly (readonly [token: number, logprob: number])[] | null;

/** Result of sampling from one prompt. */
export interface TinkerSampleOutput {
  readonly sequences: readonly TinkerSample[];
  /** [prompt]; NaN where it is not defined, as for the first token. */
  readonly promptLogprobs: Float32Array | null;
  /** [prompt] */
  readonly topPromptTokens: readonly TopTokens[] | null;
  readonly cacheHitTokens: number;
  /** Log-probabilities of the ids that were asked for, in the layout of the request. @default not asked for */
  readonly targetPromptLogprobs?: FloatTensor & Partial<SparseRows>;
  /** [prompt - 1, k] other tokens for each position but the first, and their log-probabilities. @default not asked for */
  readonly promptAltTokens?: { readonly tokens: IdTensor; readonly logprobs: FloatTensor };
}

/** The cells that a compressed sparse row matrix has. */
export interface SparseRows {
  /** [rows + 1] */
  readonly rowStarts: readonly number[];
  /** [cells] */
  readonly columns: readonly number[];
}
