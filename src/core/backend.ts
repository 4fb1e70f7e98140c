/**
 * The contract between the trainer and the component that holds the weights. The trainer never imports a
 * backend; the user passes one in, or names one that `launch/create-backend.ts` creates.
 */
import type { LoraTarget } from "./lora.ts";
import type {
  KlEstimator,
  LossAggregation,
  LossName,
  LossSpec,
  OptimField,
  OptimSpec,
} from "./loss/loss.ts";
import type { Renderer, Sampler } from "./policy.ts";
import type { TrainingRow } from "./loss/training-row.ts";
import type { MeasuredMetric, UpdateLimits } from "./loss/update-limits.ts";
import type { CriticDefaults } from "./loss/value-loss.ts";

export type { MeasuredMetric } from "./loss/update-limits.ts";

/** What a backend supports. Any other option is refused at start, by name. */
export interface BackendCapabilities {
  /** Losses of `LossSpec.name` that `updatePolicy` computes. */
  readonly losses: readonly LossName[];
  /** Of `LossSpec.aggregation`. */
  readonly aggregations: readonly LossAggregation[];
  /** Of `LossSpec.kl`. @default none */
  readonly klEstimators?: readonly KlEstimator[];
  /** `LossSpec.entropyCoef`. @default false */
  readonly entropyBonus?: boolean;
  /** `LossSpec.dualClip`. @default false */
  readonly dualClip?: boolean;
  /** `TrainingRow.observationWeights`. @default false: rows with them are not sent */
  readonly observations?: boolean;
  /** Whether all weights can be trained (`ModelSpec.lora` is null). */
  readonly fullFineTune: boolean;
  /** Whether a LoRA adapter can be trained. */
  readonly lora: boolean;
  /** `ModelSpec.adapters`. @default false */
  readonly adapters?: boolean;
  /** `saveState`/`loadState` restore a run exactly. */
  readonly exactResume: boolean;
  /** `TrainingRow.temperature` other than 1. @default false: rows at other temperatures are not sent */
  readonly temperature?: boolean;
  /** `forward` exists. */
  readonly forward: boolean;
  /** `forward` knows the reference. @default false */
  readonly reference?: boolean;
  /** `values` exists, and `updatePolicy` takes `LossSpec.critic`. @default none */
  readonly valueModel?: CriticDefaults;
  /**
   * Metrics of an update that limits can be checked against; every update reports each, except ratios and
   * KL where the backend computes `cross_entropy`, which has none. @default none
   */
  readonly measures?: readonly MeasuredMetric[];
  /** Calls are served while an update is running. @default false */
  readonly servesWhileTraining?: boolean;
  /** `SamplingParams.minP`. @default true */
  readonly minP?: boolean;
  /** `ModelSpec.quantization` other than none. @default none */
  readonly quantizations?: readonly Quantization[];
  /** The only `LoraSpec.alpha` that is supported. @default null, any */
  readonly loraAlpha?: number | null;
  /**
   * Which `LoraSpec.targets` are supported: any linear layers, or only all of them, those of the attention
   * and those of the MLP. @default "all", only all of them
   */
  readonly loraTargets?: "all" | "groups" | "layers";
  /** AdamW fields that can be set; others must keep their default. */
  readonly optimizer: readonly OptimField[];
}

/** LoRA as in arXiv:2106.09685; `null` trains every weight. */
export interface LoraSpec {
  /** Rank of the adapter, at least 1. */
  readonly rank: number;
  /** The update is scaled by alpha / rank. */
  readonly alpha: number;
  /** Linear layers of the blocks that are adapted. @default all */
  readonly targets?: readonly LoraTarget[];
}

/**
 * Numbers that the frozen linear layers consist of: those of the model, or 8-bit integers with one scale for
 * each output. A quantized base is both sampled from and trained on, as in QLoRA (arXiv:2305.14314).
 */
export type Quantization = "none" | "int8";

/** The model of a run, and how much of it is trained. */
export interface ModelSpec {
  /** A folder, or a name that the backend knows. */
  readonly name: string;
  /** The adapter to train; null trains every weight. */
  readonly lora: LoraSpec | null;
  /**
   * Further adapters of the same shape on the same base, each trained by its own rows only (`TrainingRow.adapter`).
   * Names are those of folders. @default none
   */
  readonly adapters?: readonly string[];
  /** Of the frozen base below the adapter. @default "none" */
  readonly quantization?: Quantization;
  /** It is only sampled from as it is: a backend may leave out the adapter and what training needs. @default false */
  readonly isFrozen?: boolean;
}

/** Weights that log-probabilities are of: those being trained, or those of the reference. */
export type WhichWeights = "current" | "reference";

/** What a backend is told when a run starts. */
export interface RunContext {
  /** Seed of the run: of new adapters, for example. */
  readonly seed: number;
  /** The model to load. */
  readonly model: ModelSpec;
  /** Aborted when the run is stopped while the backend starts. */
  readonly signal: AbortSignal;
  /** The run folder, for records of what the run holds elsewhere; absent outside of a run. */
  readonly runDir?: string;
}

/** An in-process policy; the gateway owns the chat template. */
export interface SamplerTarget {
  readonly kind: "sampler";
  readonly sampler: Sampler;
  readonly renderer: Renderer;
}

/**
 * What a worker runs. `auto` probes it; `openai` is any other server that speaks OpenAI's protocol.
 */
export type WorkerKind = "vllm" | "sglang" | "llamacpp" | "openai";

/** One inference server. */
export interface HttpWorker {
  /** With or without the path of its OpenAI routes. @default path "/v1" */
  readonly url: string;
  /** For messages and traces. @default "worker-1", "worker-2" ... */
  readonly id?: string;
  /** @default "auto" */
  readonly kind?: WorkerKind | "auto";
  /** Sent to this worker as a bearer token, and nowhere else. */
  readonly apiKey?: string;
  /** The model as this worker names it. @default what it lists first */
  readonly modelName?: string;
  /**
   * Which log-probabilities it returns: vLLM's `--logprobs-mode`, for example. @default "processed" for
   * SGLang, "raw" for others
   */
  readonly logprobKind?: "raw" | "processed";
}

/** Timeouts of upstream requests, in milliseconds; each at least 1. */
export interface HttpDeadlines {
  /** @default 10_000 */
  readonly connectMs?: number;
  /** From the request to the first byte of a stream's body. @default 300_000 */
  readonly firstByteMs?: number;
  /** Between two chunks of a body. @default 120_000 */
  readonly betweenBytesMs?: number;
}

/** Inference servers over HTTP. */
export interface HttpTarget {
  readonly kind: "http";
  /** At least one server; calls of a session go to the same one. */
  readonly workers: readonly HttpWorker[];
  /** Renderer of the model family; lets the gateway own the chat template. */
  readonly renderer?: Renderer;
  /**
   * `cumulative`: prompts are sent as token ids, and each later turn has the ids of the earlier
   * ones as its prefix; needs a renderer. `server`: the server renders messages.
   * @default "cumulative" with a renderer
   */
  readonly tokenMode?: "cumulative" | "server";
  /** Longest prompt + completion in tokens. @default what the workers report */
  readonly contextLength?: number;
  /** Timeouts of requests to the servers. */
  readonly deadlines?: HttpDeadlines;
  /** Attempts per call, including the first; at least 1. @default 5 */
  readonly maxAttempts?: number;
  /** Backoff before the second attempt, doubled for each further one, in milliseconds. @default 200 */
  readonly retryDelayMs?: number;
  /** Time between health checks, in milliseconds, at least 1. @default 10_000 */
  readonly healthIntervalMs?: number;
  /** Timeout of a health check or a probe, in milliseconds. @default 5_000 */
  readonly healthTimeoutMs?: number;
  /**
   * Calls in flight above which requests and responses of further calls are written and read on another
   * thread; 0 is always, Infinity never. @default 8; Infinity on one CPU
   */
  readonly offloadFrom?: number;
  /** Maximum size of a worker's response, in bytes. @default 256 MiB */
  readonly maxResponseBytes?: number;
}

/** What samples for the gateway: a policy in this process, or inference servers over HTTP. */
export type InferenceTarget = SamplerTarget | HttpTarget;

/** Flat slash-paths (`loss`, `grad_norm`, `tokens` ...), all finite. */
export type UpdateMetrics = Readonly<Record<string, number>>;

/**
 * What holds, trains and serves the weights. One object is used for one run; `start` is called first.
 *
 * @example
 * const backend: TrainingBackend = {
 *   name: "mine",
 *   capabilities: { losses: ["ppo"], aggregations: ["token-mean"], ...others },
 *   start: async ({ model, seed }) => ({ kind: "sampler", sampler, renderer }),
 *   updatePolicy: async (rows, loss, optim) => ({ loss: await step(rows, loss, optim) }),
 *   publishWeights: async () => ++version,
 *   saveState: async (folder) => await save(folder),
 *   loadState: async (folder, weightVersion) => await load(folder, weightVersion),
 *   [Symbol.asyncDispose]: async () => await close(),
 * };
 */
export interface TrainingBackend extends AsyncDisposable {
  /** Short name, for messages and records. */
  readonly name: string;
  /** Read before `start` and again after it, since a backend that has queried its server may know more. */
  readonly capabilities: BackendCapabilities;
  /** Loads the model; called once, before anything else. */
  start(run: RunContext): Promise<InferenceTarget>;
  /**
   * One optimizer step on all rows. Weights being served do not change until `publishWeights`.
   * @param limits where they are exceeded, a backend that measures before it steps leaves everything
   * unchanged and throws what `refuseBeyond` (`update-limits.ts`) throws; other backends may ignore them.
   */
  updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    signal?: AbortSignal,
    limits?: UpdateLimits,
  ): Promise<UpdateMetrics>;
  /**
   * [row][length] log-probability of each token under the weights being trained, or under the
   * reference that `LossSpec.kl` measures against; 0 outside `targetMask`.
   */
  forward?(
    rows: readonly TrainingRow[],
    which: WhichWeights,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /**
   * [row][length] entropy in nats of the distribution that each token is sampled from, at the row's
   * `temperature`, under the weights being trained; 0 outside `targetMask`. For records only.
   */
  entropies?(rows: readonly TrainingRow[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /**
   * [row][length] the critic's value of what comes before each token, under the weights being trained; 0
   * outside `targetMask`. The critic is made when it is first asked for, and is part of `saveState`.
   */
  values?(rows: readonly TrainingRow[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** Serves the trained weights; resolves with their version (from 0, incremented each time). */
  publishWeights(): Promise<number>;
  /** Writes weights, optimizer moments and step count into an existing empty folder. */
  saveState(folder: string): Promise<void>;
  /**
   * Restores what `saveState` wrote and serves it as `weightVersion`.
   * @throws CheckpointError when the folder does not match this model; nothing has changed then.
   */
  loadState(folder: string, weightVersion: number): Promise<void>;
  /** After the start: USD per hour of hardware that is held for the run. @default null, none or unknown */
  readonly usdPerHour?: number | null;
  /** Numbers since the last call (`engine/...`): tokens sampled, busy seconds. */
  metrics?(): Promise<UpdateMetrics>;
}
