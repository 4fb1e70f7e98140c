/**
 * Samplers and the samples made from them, once per request however often it arrives. Knows
 * neither sessions nor HTTP.
 */
import { baseWeights, type AdapterWeights } from "../model/adapter.ts";
import { RequestError } from "../request-error.ts";
import { remember, SamplerTable, type SamplerSession } from "./sampler-table.ts";
import {
  checkJob,
  runJob,
  type SamplingContext,
  type SamplingJob,
  type SamplingOutput,
} from "./sampling.ts";

export interface SamplersOptions {
  readonly context: SamplingContext;
  /** Samplers that keep their weights in memory. */
  readonly limit: number;
  /** Of a checkpoint, or with null of the base model. */
  readonly weightsOf: (modelPath: string | null) => Promise<AdapterWeights>;
  /** Makes a future of what is running. */
  readonly start: (running: Promise<unknown>, sampler: SamplerSession) => string;
}

export class Samplers {
  readonly #options: SamplersOptions;
  readonly #table: SamplerTable;
  /** Of samples in progress, by future. */
  readonly #cancels = new Map<string, AbortController>();
  readonly #stop = new AbortController();

  constructor(options: SamplersOptions) {
    this.#options = options;
    this.#table = new SamplerTable(options.limit);
  }

  /**
   * The sampler `id`, made where there is none.
   * @param modelPath null samples from the base model, or from `weights`.
   * @throws RequestError 409 when it was made of something else.
   */
  async make(
    id: string,
    modelPath: string | null,
    weights: AdapterWeights | null,
  ): Promise<SamplerSession> {
    const before = this.#table.get(id);
    if (before !== undefined) {
      if (before.modelPath === modelPath && weights === null) return before;
      throw new RequestError(409, `The sampler "${id}" was made of something else.`);
    }
    const loaded = weights ?? (await this.#options.weightsOf(modelPath));
    // The base model's cost nothing, so its samplers are never dropped.
    const weightsNow = loaded === baseWeights ? null : Promise.resolve(loaded);
    const sampler = newSampler(id, modelPath, weightsNow);
    this.#table.add(sampler);
    return sampler;
  }

  /** @throws RequestError 404 */
  find(id: string): SamplerSession {
    const sampler = this.#table.get(id);
    if (sampler === undefined)
      throw new RequestError(404, `There is no sampler "${id}", or newer ones took its place.`);
    return sampler;
  }

  delete(id: string): void {
    this.#table.delete(id);
  }

  /** @param key identifies the request: the same key is the same request; null is always a new one. */
  sample(
    sampler: SamplerSession,
    key: string | null,
    fingerprint: string,
    job: SamplingJob,
  ): string {
    const { context, start } = this.#options;
    checkJob(context, job);
    const before = key === null ? undefined : sampler.known.get(key);
    if (before?.fingerprint === fingerprint) return before.future;
    if (before !== undefined)
      throw new RequestError(409, `The sequence number ${key} was used for another sample.`);
    const cancel = new AbortController();
    const running = this.#run(sampler, job, cancel);
    const future = start(running, sampler);
    this.#cancels.set(future, cancel);
    void running.catch(() => undefined).then(() => this.#cancels.delete(future));
    if (key !== null) remember(sampler, key, { fingerprint, future });
    return future;
  }

  /**
   * Samples for a client that waits on the line, without a future.
   * @param gone the client has left, or nothing will read the result.
   * @throws RequestError 400 for a job that this model cannot do.
   */
  sampleNow(sampler: SamplerSession, job: SamplingJob, gone: AbortSignal): Promise<SamplingOutput> {
    checkJob(this.#options.context, job);
    const cancel = new AbortController();
    gone.addEventListener("abort", () => cancel.abort(), { once: true });
    if (gone.aborted) cancel.abort();
    return this.#run(sampler, job, cancel);
  }

  async #run(
    sampler: SamplerSession,
    job: SamplingJob,
    cancel: AbortController,
  ): Promise<SamplingOutput> {
    const { context, weightsOf } = this.#options;
    sampler.running.add(cancel);
    try {
      const weights = sampler.weights ?? weightsOf(sampler.modelPath);
      if (sampler.modelPath !== null) sampler.weights = weights;
      const signal = AbortSignal.any([this.#stop.signal, cancel.signal]);
      const output = await runJob(context, await weights, job, signal);
      if (cancel.signal.aborted) throw new RequestError(400, "The request was cancelled.");
      return output;
    } finally {
      sampler.running.delete(cancel);
    }
  }

  /** Ends a sample that has no waiting client any more; other requests, and ended ones, stay as they are. */
  cancel(future: string): void {
    this.#cancels.get(future)?.abort();
  }

  /** Ends all samples permanently. */
  stop(): void {
    this.#stop.abort();
  }
}

/** @param weights null: those of the base model, or to be read from the checkpoint. */
export function newSampler(
  id: string,
  modelPath: string | null,
  weights: Promise<AdapterWeights> | null,
): SamplerSession {
  return { id, modelPath, weights, known: new Map(), clients: 1, running: new Set() };
}
