/**
 * The `local` backend: samples and trains on this machine with the embedded engine, in a worker
 * thread.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import type {
  BackendCapabilities,
  InferenceTarget,
  RunContext,
  TrainingBackend,
  UpdateMetrics,
} from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { ConfigError, ContextOverflowError } from "../../core/errors.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { Sampler } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { UpdateLimits } from "../../core/loss/update-limits.ts";
import type { MomentPrecision } from "../../engine/optimizer/moments.ts";
import { schemasOfRows, schemasOfRules } from "../../engine/logit-rules/ready-schemas.ts";
import { defaultTrainingMemoryMiB } from "../../engine/policy-engine.ts";
import type { Provider } from "../../engine/provider.ts";
import type { QuantizationDistance } from "../../engine/quantization-distance.ts";
import type { SamplingPrecision } from "../../engine/sampling/sampling-session.ts";
import type { PullProgress } from "../../hub/pull-files.ts";
import { defined } from "../../util/defined.ts";
import { reopen } from "../../util/files/reopen.ts";
import { findModel } from "./find-model.ts";
import { vocabularyOf, watchPrompts } from "./foreign-prompts.ts";
import { loadModelRenderer } from "./load-model.ts";
import { probePrompts, quantizationNotice } from "./quantization-notice.ts";
import type { RowsInput } from "./protocol.ts";
import { messageOfRows } from "./row-message.ts";
import { WorkerClient } from "./worker-client.ts";

/** Options of the `local` backend: threads, memory, execution provider and numeric precision. */
export interface LocalBackendOptions {
  /** Threads per operation. @default half of the CPU cores, at least 2 */
  readonly threads?: number;
  /**
   * Execution provider. `cpu-bf16` is the CPU with matrix products in bf16, on ARM64 and Linux. `webgpu`
   * is included in onnxruntime-node; the others need a build and libraries that provide them. Refused
   * at start if it is not available; operations that it lacks run on the CPU.
   * @default "cpu"
   */
  readonly provider?: Provider;
  /**
   * Memory in MiB for the activations of one training micro-batch; a smaller value is slower.
   * @default 1536
   */
  readonly trainingMemoryMiB?: number;
  /**
   * Memory in MiB for keys and values while sampling: four fifths for sequences that are being
   * sampled, the youngest of which are preempted when memory runs out, and one fifth for prompts.
   * @default a quarter of the memory
   */
  readonly cacheMemoryMiB?: number;
  /**
   * Precision of frozen matrices while sampling. `int8` takes a quarter of the memory and samples
   * from a slightly different distribution: `train/logprob_abs_diff_mean` measures the difference, and the
   * ratios of `importance_sampling`, `ppo` and similar losses correct for it. Requires a LoRA
   * adapter.
   * @default "float32"
   */
  readonly samplingPrecision?: SamplingPrecision;
  /**
   * Precision of AdamW's moments. `bfloat16` takes half of the memory; its stochastic rounding is
   * seeded per step.
   * @default "float32"
   */
  readonly momentPrecision?: MomentPrecision;
  /** Called with what a user should know of the model that was loaded, in a sentence or two. */
  readonly onWarning?: (message: string) => void;
  /** Called with the progress of downloading a model from a hub. */
  readonly onPull?: (progress: PullProgress) => void;
}

/** The embedded engine in a worker thread. Created by `createLocalBackend`. */
export class LocalBackend implements TrainingBackend {
  readonly name = "local";
  readonly capabilities: BackendCapabilities = capabilityMatrix.local;
  readonly #options: LocalBackendOptions;
  #worker: WorkerClient | undefined;
  #counted = { tokens: 0, busyMs: 0 };
  #distance: QuantizationDistance | undefined;

  constructor(options: LocalBackendOptions = {}) {
    this.#options = options;
  }

  get #client(): WorkerClient {
    if (this.#worker === undefined) throw new Error("The local backend has not been started.");
    return this.#worker;
  }

  async start(run: RunContext): Promise<InferenceTarget> {
    if (this.#worker !== undefined) throw new Error("The local backend has already been started.");
    const { onPull, onWarning, cacheMemoryMiB, samplingPrecision = "float32" } = this.#options;
    const { quantization = "none" } = run.model;
    if (quantization !== "none" && samplingPrecision !== "float32") {
      throw new ConfigError({
        message: `local.sampling_precision is ${samplingPrecision}, but model.quantization is ${quantization}: samples would not come from the base that is trained.`,
        hint: "Leave local.sampling_precision out: a quantized base is sampled as it is.",
        fields: { option: "local.sampling_precision", value: samplingPrecision },
      });
    }
    let path = "";
    const open = async () => {
      path = "";
      const found = await findModel(run.model.name, {
        signal: run.signal,
        ...defined({ onProgress: onPull }),
      });
      path = found.path;
      const renderer = await loadModelRenderer(path);
      const loaded = await (this.#worker ??= new WorkerClient()).call("load", {
        ...found,
        lora: run.model.lora,
        quantization,
        probes: quantization === "none" ? [] : probePrompts(renderer),
        seed: run.seed,
        threads: this.#options.threads ?? Math.max(2, Math.floor(availableParallelism() / 2)),
        provider: this.#options.provider ?? "cpu",
        trainingMemoryMiB: this.#options.trainingMemoryMiB ?? defaultTrainingMemoryMiB,
        ...defined({ cacheMemoryMiB }),
        samplingPrecision,
        momentPrecision: this.#options.momentPrecision ?? "float32",
      });
      const model = { name: run.model.name, contextLength: loaded.contextLength };
      const watched =
        onWarning === undefined
          ? renderer
          : watchPrompts(renderer, { ...model, vocabulary: await vocabularyOf(path) }, onWarning);
      return { renderer: watched, ...loaded };
    };
    // A run that goes on deletes its older checkpoints.
    const isGone = async (): Promise<boolean> => {
      if (path === "" || existsSync(path)) return false;
      await this.#worker?.call("close", null);
      return true;
    };
    const { renderer, contextLength, quantized } = await reopen(open, isGone);
    if (quantized !== null) {
      this.#distance = quantized.distance;
      onWarning?.(quantizationNotice(quantized));
    }
    return { kind: "sampler", renderer, sampler: createSampler(this.#client, contextLength) };
  }

  async updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    _signal?: AbortSignal,
    limits?: UpdateLimits,
  ): Promise<UpdateMetrics> {
    const input = await rowsInput(rows);
    const request = { ...input, loss, optim, limits };
    return this.#client.call("update", request, { moved: [input.rows.numbers] });
  }

  async forward(
    rows: readonly TrainingRow[],
    which: "current" | "reference" = "current",
  ): Promise<readonly Float32Array[]> {
    const input = await rowsInput(rows);
    return this.#client.call("forward", { ...input, which }, { moved: [input.rows.numbers] });
  }

  async entropies(rows: readonly TrainingRow[]): Promise<readonly Float32Array[]> {
    const input = await rowsInput(rows);
    return this.#client.call("entropies", input, { moved: [input.rows.numbers] });
  }

  publishWeights(): Promise<number> {
    return this.#client.call("publish", null);
  }

  async saveState(folder: string): Promise<void> {
    await this.#client.call("save", folder);
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    await this.#client.call("restore", { folder, version: weightVersion });
  }

  async metrics(): Promise<UpdateMetrics> {
    const totals = await this.#client.call("totals", null);
    const before = this.#counted;
    this.#counted = totals;
    return {
      "engine/sampled_tokens": totals.tokens - before.tokens,
      "engine/busy_s": (totals.busyMs - before.busyMs) / 1000,
      ...(this.#distance === undefined
        ? {}
        : {
            "engine/quantization_kl": this.#distance.kl,
            "engine/quantization_ess_fraction": this.#distance.effectiveSampleSize,
          }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    await worker.call("close", null).catch(() => undefined);
    await worker.terminate();
  }
}

/** Copied before anything is waited for: the rows are the caller's. */
async function rowsInput(rows: readonly TrainingRow[]): Promise<RowsInput> {
  const message = messageOfRows(rows);
  return { rows: message, schemas: await schemasOfRows(rows) };
}

function createSampler(worker: WorkerClient, contextLength: number): Sampler {
  return {
    contextLength,
    appliesLogitRules: true,
    async sample({ tokens, params, n = 1, onChunk, signal }) {
      if (tokens.length >= contextLength)
        throw new ContextOverflowError(tokens.length, contextLength);
      const schemas = params.rules === undefined ? [] : await schemasOfRules(params.rules, signal);
      const request = { tokens, params, schemas, n, stream: onChunk !== undefined };
      return worker.call("sample", request, {
        ...defined({ onChunk, signal }),
      });
    },
  };
}
