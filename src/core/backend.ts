/**
 * The contract between the trainer and whatever holds the weights. The trainer never imports a
 * backend; the user passes one in, or names one that the command line loads.
 */
import type { LossAggregation, LossName, LossSpec, OptimSpec } from "./loss.ts";
import type { Renderer, Sampler } from "./policy.ts";
import type { TrainingRow } from "./training-row.ts";

/** What a backend honours. An option outside of it is refused at start, by name. */
export interface BackendCapabilities {
  readonly losses: readonly LossName[];
  readonly aggregations: readonly LossAggregation[];
  readonly fullFineTune: boolean;
  readonly lora: boolean;
  /** `saveState`/`loadState` restore a run exactly. */
  readonly exactResume: boolean;
  /** `forward` exists. */
  readonly forward: boolean;
  /** AdamW fields that can be set; others must keep their default. */
  readonly optimizer: readonly (keyof OptimSpec)[];
}

/** LoRA as in arXiv:2106.09685; `null` trains every weight. */
export interface LoraSpec {
  readonly rank: number;
  /** The update is scaled by alpha / rank. */
  readonly alpha: number;
}

export interface ModelSpec {
  /** A folder, or a name that the backend knows. */
  readonly name: string;
  readonly lora: LoraSpec | null;
}

export interface RunContext {
  readonly seed: number;
  readonly model: ModelSpec;
  readonly signal: AbortSignal;
}

/** An in-process policy; the gateway owns the chat template. */
export interface SamplerTarget {
  readonly kind: "sampler";
  readonly sampler: Sampler;
  readonly renderer: Renderer;
}

/** OpenAI-compatible servers. */
export interface HttpTarget {
  readonly kind: "http";
  readonly workers: readonly { readonly url: string; readonly apiKey?: string }[];
}

export type InferenceTarget = SamplerTarget | HttpTarget;

/** Flat slash-paths (`loss`, `grad_norm`, `tokens` ...), all finite. */
export type UpdateMetrics = Readonly<Record<string, number>>;

export interface TrainingBackend extends AsyncDisposable {
  readonly name: string;
  readonly capabilities: BackendCapabilities;
  /** Loads the model; called once, before anything else. */
  start(run: RunContext): Promise<InferenceTarget>;
  /** One optimizer step on all rows. Weights being served do not change until `publishWeights`. */
  updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    signal?: AbortSignal,
  ): Promise<UpdateMetrics>;
  /** [row][length] log-probability of each token under the current weights; 0 outside `targetMask`. */
  forward?(rows: readonly TrainingRow[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** Serves the trained weights; resolves with their version (from 0, one more each time). */
  publishWeights(): Promise<number>;
  /** Writes weights, optimizer moments and step count into an existing empty folder. */
  saveState(folder: string): Promise<void>;
  /**
   * Restores what `saveState` wrote and serves it as `weightVersion`.
   * @throws CheckpointError when the folder does not fit this model; nothing has changed then.
   */
  loadState(folder: string, weightVersion: number): Promise<void>;
  /** Numbers since the last call (`engine/...`): tokens sampled, busy seconds. */
  metrics?(): Promise<UpdateMetrics>;
}
