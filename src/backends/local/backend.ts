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
  WhichWeights,
} from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { ContextOverflowError } from "../../core/errors.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { Sampler } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { UpdateLimits } from "../../core/loss/update-limits.ts";
import type { PrecisionOption } from "../../core/precision.ts";
import type { MomentPrecision } from "../../engine/optimizer/moments.ts";
import { schemasOfRows, schemasOfRules } from "../../engine/logit-rules/ready-schemas.ts";
import { defaultTrainingMemoryMiB } from "../../engine/policy-engine.ts";
import type { QuantizationDistance } from "../../engine/quantization-distance.ts";
import type { PullProgress } from "../../models/hub/pull-files.ts";
import { defined } from "../../util/defined.ts";
import { reopen } from "../../util/files/reopen.ts";
import { findModel } from "./find-model.ts";
import { vocabularyOf, watchPrompts } from "./foreign-prompts.ts";
import { loadModelRenderer } from "./load-model.ts";
import { probePrompts, quantizationNotice } from "./quantization-notice.ts";
import type { RowsInput } from "./protocol.ts";
import { messageOfRows } from "./row-message.ts";
import { WorkerClient } from "./worker-client.ts";

/** Options of the `local` backend: threads, memory and numeric precision. */
export interface LocalBackendOptions {
  /** Threads per operation. @default half of the CPU cores, at least 2 */
  readonly threads?: number;
  /**
   * What matrix products are computed in, the same for sampling and training, whose log-probabilities are equal to the
   * bit in both. `auto` is `bf16` where the processor has instructions for it, else `f32`. Sums, activations between
   * products, the optimizer and trained weights are always in 32 bits.
   * @default "auto"
   */
  readonly precision?: PrecisionOption;
  /**
   * Memory in MiB for the activations of one training micro-batch; a smaller value is slower.
   * @default 1536
   */
  readonly trainingMemoryMiB?: number;
  /**
   * Memory in MiB for keys and values while sampling; when it runs out, the youngest sequences wait.
   * @default a quarter of the memory
   */
  readonly cacheMemoryMiB?: number;
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
    const { onPull, onWarning, cacheMemoryMiB } = this.#options;
    const { quantization = "none", isFrozen = false } = run.model;
    let path = "";
    const open = async () => {
      path = "";
      const found = await findModel(run.model.name, {
        signal: run.signal,
        ...defined({ onProgress: onPull }),
      });
      path = found.path;
      // While the engine reads the weights, unless it needs prompts for that.
      const reading = loadModelRenderer(path);
      const probes = quantization === "none" ? [] : probePrompts(await reading);
      const loading = (this.#worker ??= new WorkerClient()).call("load", {
        ...found,
        lora: isFrozen ? null : run.model.lora,
        adapters: isFrozen ? [] : (run.model.adapters ?? []),
        isFrozen,
        quantization,
        probes,
        seed: run.seed,
        threads: this.#options.threads ?? Math.max(2, Math.floor(availableParallelism() / 2)),
        precision: this.#options.precision ?? "auto",
        trainingMemoryMiB: this.#options.trainingMemoryMiB ?? defaultTrainingMemoryMiB,
        ...defined({ cacheMemoryMiB }),
        momentPrecision: this.#options.momentPrecision ?? "float32",
      });
      // Where both fail, that of the renderer is thrown.
      loading.catch(() => undefined);
      const renderer = await reading.catch(async (error: unknown) => {
        await this.#worker?.terminate();
        this.#worker = undefined;
        throw error;
      });
      const loaded = await loading;
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
    const loaded = await reopen(open, isGone);
    const { renderer, contextLength, quantizationDistance, warnings } = loaded;
    for (const warning of warnings) onWarning?.(warning);
    if (quantizationDistance !== null) {
      this.#distance = quantizationDistance;
      onWarning?.(quantizationNotice(quantizationDistance));
    }
    return {
      kind: "sampler",
      renderer,
      sampler: createSampler(this.#client, contextLength, isFrozen),
    };
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
    which: WhichWeights = "current",
  ): Promise<readonly Float32Array[]> {
    const input = await rowsInput(rows);
    return this.#client.call("forward", { ...input, which }, { moved: [input.rows.numbers] });
  }

  async entropies(rows: readonly TrainingRow[]): Promise<readonly Float32Array[]> {
    const input = await rowsInput(rows);
    return this.#client.call("entropies", input, { moved: [input.rows.numbers] });
  }

  async values(rows: readonly TrainingRow[]): Promise<readonly Float32Array[]> {
    const input = await rowsInput(rows);
    return this.#client.call("values", input, { moved: [input.rows.numbers] });
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

/** @param isFrozen every call is sampled from the model as it is, whatever adapter it names */
function createSampler(worker: WorkerClient, contextLength: number, isFrozen: boolean): Sampler {
  return {
    contextLength,
    appliesLogitRules: true,
    async sample({ tokens, params, n = 1, adapter, onChunk, signal }) {
      if (tokens.length >= contextLength)
        throw new ContextOverflowError(tokens.length, contextLength);
      const schemas = params.rules === undefined ? [] : await schemasOfRules(params.rules, signal);
      const stream = onChunk !== undefined;
      const request = {
        tokens,
        params,
        schemas,
        n,
        stream,
        ...(isFrozen ? {} : defined({ adapter })),
      };
      return worker.call("sample", request, {
        ...defined({ onChunk, signal }),
      });
    },
  };
}
