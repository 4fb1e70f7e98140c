/**
 * The `tinker` backend: a model on a Tinker server, and another one on the same base for each further adapter. Each is
 * sampled, trained and saved by itself.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultAdapter } from "../../core/adapter-names.ts";
import type {
  BackendCapabilities,
  InferenceTarget,
  RunContext,
  TrainingBackend,
  UpdateMetrics,
} from "../../core/backend.ts";
import { joinUpdates, optimOfAdapter, rowsByAdapter } from "../../core/loss/adapter-updates.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import { overlay } from "../../core/overlay.ts";
import type { Sampler } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { deriveSeed } from "../../util/random.ts";
import { TinkerModel } from "./model-backend.ts";
import type { TinkerBackendOptions } from "./options.ts";

/** Models on a Tinker server. Created by `createTinkerBackend`. */
export class TinkerBackend implements TrainingBackend {
  readonly name = "tinker";
  readonly #options: TinkerBackendOptions;
  readonly #own: TinkerModel;
  /** By adapter; the model's own comes first. */
  readonly #models: Map<string, TinkerModel>;

  constructor(options: TinkerBackendOptions = {}) {
    this.#options = options;
    this.#own = new TinkerModel(options);
    this.#models = new Map([[defaultAdapter, this.#own]]);
  }

  /** Known exactly only after a request to the server. */
  get capabilities(): BackendCapabilities {
    return this.#own.capabilities;
  }

  async start(run: RunContext): Promise<InferenceTarget> {
    const { adapters = [], ...model } = run.model;
    const target = await this.#own.start({ ...run, model });
    if (target.kind === "http" || adapters.length === 0) return target;
    const samplers = new Map([[defaultAdapter, target.sampler]]);
    for (const name of adapters) {
      const other = new TinkerModel(this.#options);
      const seed = deriveSeed(run.seed, "adapter", name);
      const started = await other.start({ ...run, model, seed });
      this.#models.set(name, other);
      if (started.kind === "sampler") samplers.set(name, started.sampler);
    }
    const sample: Sampler["sample"] = (request) => {
      const own = samplers.get(request.adapter ?? defaultAdapter);
      return own === undefined
        ? Promise.reject(new RangeError(`There is no adapter ${JSON.stringify(request.adapter)}.`))
        : own.sample(request);
    };
    return overlay(target, { sampler: overlay(target.sampler, { sample }) });
  }

  /** `work` with the rows of each adapter. */
  async #byAdapter<T>(
    rows: readonly TrainingRow[],
    work: (
      model: TinkerModel,
      own: readonly TrainingRow[],
      places: readonly number[],
      name: string,
    ) => Promise<T>,
  ): Promise<Map<string, T>> {
    const found = new Map<string, T>();
    for (const [name, places] of rowsByAdapter(rows)) {
      const model = this.#models.get(name);
      if (model === undefined) throw new RangeError(`There is no adapter "${name}".`);
      const own = places.map((place) => rows[place]!);
      found.set(name, await work(model, own, places, name));
    }
    return found;
  }

  async updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    signal?: AbortSignal,
  ): Promise<UpdateMetrics> {
    const own = optimOfAdapter(optim, defaultAdapter);
    if (this.#models.size === 1) return this.#own.updatePolicy(rows, loss, own, signal);
    return joinUpdates(
      await this.#byAdapter(rows, (model, of, _, name) =>
        model.updatePolicy(of, loss, optimOfAdapter(optim, name), signal),
      ),
    );
  }

  async forward(
    rows: readonly TrainingRow[],
    which: "current" | "reference",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const found: Float32Array[] = [];
    await this.#byAdapter(rows, async (model, own, places) => {
      const logprobs = await model.forward(own, which, signal);
      for (const [i, place] of places.entries()) found[place] = logprobs[i]!;
    });
    return found;
  }

  async publishWeights(): Promise<number> {
    const versions: number[] = [];
    for (const model of this.#models.values()) versions.push(await model.publishWeights());
    return versions[0]!;
  }

  async saveState(folder: string): Promise<void> {
    for (const [name, model] of this.#models) {
      const own = folderOf(folder, name);
      await mkdir(own, { recursive: true });
      await model.saveState(own);
    }
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    for (const [name, model] of this.#models)
      await model.loadState(folderOf(folder, name), weightVersion);
  }

  async metrics(): Promise<UpdateMetrics> {
    const sums: Record<string, number> = {};
    for (const model of this.#models.values())
      for (const [name, value] of Object.entries(await model.metrics()))
        sums[name] = (sums[name] ?? 0) + value;
    return sums;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#models.values()].map((model) => model[Symbol.asyncDispose]()));
  }
}

function folderOf(folder: string, adapter: string): string {
  return adapter === defaultAdapter ? folder : join(folder, adapter);
}
