/**
 * Sessions, models and checkpoints of one server: what requests act on. Knows neither HTTP nor how
 * messages are encoded, and nothing of sampling tokens.
 */
import { createHash, randomInt } from "node:crypto";
import { AgentTrainerError } from "../core/errors.ts";
import { defined } from "../util/defined.ts";
import type { OptimSpec } from "../core/loss/loss.ts";
import type { ForwardBackwardRequest } from "../tinker-api/messages.ts";
import { TinkerWireError } from "../tinker-api/tinker-error.ts";
import {
  encryptFiles,
  loadAdapter,
  readWeights,
  saveAdapter,
} from "./checkpoints/adapter-files.ts";
import {
  checkName,
  formatPath,
  parsePath,
  type CheckpointKind,
  type CheckpointPath,
} from "./checkpoints/checkpoint-path.ts";
import type { Checkpoint, CheckpointStore } from "./checkpoints/checkpoint-store.ts";
import { Futures, type FutureOutcome } from "./futures.ts";
import {
  baseWeights,
  type Adapter,
  type AdapterSpec,
  type AdapterWeights,
  type GradientNormalization,
} from "./model/adapter.ts";
import { readLossRequest } from "./model/loss-request.ts";
import { OrderedRequests } from "./ordered-requests.ts";
import { RequestError } from "./request-error.ts";
import { Samplers } from "./sampling/samplers.ts";
import type { SamplingContext } from "./sampling/sampling.ts";
import type { SamplerSession } from "./sampling/sampler-table.ts";
import { SessionTable, type Session } from "./session-table.ts";

export interface LoadedModel {
  readonly id: string;
  readonly sessionId: string;
  readonly adapter: Adapter;
  readonly requests: OrderedRequests;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  /** Of the last `forward_backward` that failed. */
  failure: string | null;
}

export interface ServiceLimits {
  readonly maxRank: number;
  readonly maxModels: number;
  readonly sessionTimeoutMs: number;
  readonly gapMs: number;
  /** Samplers that keep their weights in memory. */
  readonly samplers: number;
}

export interface ServiceParts extends SamplingContext {
  readonly modelName: string;
  readonly store: CheckpointStore;
  readonly limits: ServiceLimits;
  /** Ids of sessions; no colons. @default random UUIDs */
  readonly newSessionId?: () => string;
  /** Tensors that a forward pass may be given though its loss does not read them. @default none */
  readonly unreadInForward?: readonly string[];
}

export interface SaveOptions {
  readonly name: string;
  readonly kind: CheckpointKind;
  readonly ttlSeconds: number | null;
  readonly overwrite: boolean;
  /** Public keys that its files are encrypted to. @default none: they are written as they are */
  readonly recipients?: readonly Uint8Array[];
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
}

/** Equal for equal requests. */
export function fingerprintOf(kind: string, body: string | Uint8Array): string {
  return createHash("sha256").update(kind).update("\0").update(body).digest("base64");
}

export class TinkerService implements AsyncDisposable {
  readonly parts: ServiceParts;
  readonly futures: Futures = new Futures();
  readonly sessions: SessionTable;
  readonly #models = new Map<string, LoadedModel>();
  /** Models that are being made. */
  #making = 0;
  readonly samplers: Samplers;
  /** Futures of requests that make something, by what they make. */
  readonly #made = new Map<string, { readonly fingerprint: string; readonly future: string }>();

  constructor(parts: ServiceParts) {
    this.parts = parts;
    this.samplers = new Samplers({
      context: parts,
      limit: parts.limits.samplers,
      weightsOf: (path) => this.weightsOf(path),
      start: (running, sampler) => this.start(running, sessionOf(sampler.id)),
    });
    this.sessions = new SessionTable({
      timeoutMs: parts.limits.sessionTimeoutMs,
      onEnd: (session) => this.#free(session),
      ...defined({ newId: parts.newSessionId }),
    });
  }

  get modelName(): string {
    return this.parts.modelName;
  }

  get store(): CheckpointStore {
    return this.parts.store;
  }

  start(running: Promise<unknown>, sessionId: string): string {
    return this.futures.add(running, describeFailure, sessionId);
  }

  /** All that a session had, at once; checkpoints stay. */
  #free(session: Session): void {
    const ended = new RequestError(410, `Session "${session.id}" has ended.`);
    for (const id of session.modelIds) {
      this.#models.get(id)?.requests.close(ended);
      this.#models.delete(id);
    }
    for (const id of session.samplerIds) this.samplers.delete(id);
    for (const key of this.#made.keys()) if (sessionOf(key) === session.id) this.#made.delete(key);
    this.futures.forgetOf(session.id);
  }

  // Models

  /** @throws RequestError 404 */
  model(id: string): LoadedModel {
    const model = this.#models.get(id);
    if (model === undefined)
      throw new RequestError(404, `Model "${id}" is not loaded. Create it, or load a checkpoint.`);
    this.sessions.use(model.sessionId);
    return model;
  }

  /** Of the models that are loaded, oldest first. */
  modelIds(): readonly string[] {
    return [...this.#models.keys()];
  }

  /** @throws RequestError when the base is another one. */
  checkBase(name: string): void {
    if (name === this.modelName) return;
    throw new RequestError(400, `This server has "${this.modelName}", not "${name}".`);
  }

  checkSpec({ rank, trainAttention, trainMlp }: AdapterSpec): void {
    const { maxRank } = this.parts.limits;
    if (!(rank >= 1 && rank <= maxRank))
      throw new RequestError(400, `lora_config.rank is ${rank}, but must be from 1 to ${maxRank}.`);
    if (!trainAttention && !trainMlp)
      throw new RequestError(
        400,
        "This server adapts attention and MLP layers; neither is chosen.",
      );
  }

  /** Counted before the first wait, so that models that are made at the same time keep to it, too. */
  async #withRoom<T>(make: () => Promise<T>): Promise<T> {
    const { maxModels } = this.parts.limits;
    this.sessions.endSilent();
    if (this.#models.size + this.#making >= maxModels)
      throw new RequestError(
        429,
        `${maxModels} models are loaded, and more do not fit. Close sessions that are done, or start the server with a larger --max-models.`,
      );
    this.#making += 1;
    try {
      return await make();
    } finally {
      this.#making -= 1;
    }
  }

  /** The same key with the same fingerprint is the same request. @throws RequestError 409 */
  once(key: string, fingerprint: string, work: () => Promise<unknown>): string {
    const before = this.#made.get(key);
    if (before?.fingerprint === fingerprint) return before.future;
    if (before !== undefined)
      throw new RequestError(409, `The sequence number of ${key} was used for something else.`);
    const future = this.start(work(), sessionOf(key));
    this.#made.set(key, { fingerprint, future });
    return future;
  }

  async createModel(
    id: string,
    sessionId: string,
    spec: AdapterSpec,
    userMetadata: LoadedModel["userMetadata"],
  ): Promise<LoadedModel> {
    return this.#withRoom(async () => {
      const adapter = this.parts.base.createAdapter(spec);
      const requests = new OrderedRequests({
        gapMs: this.parts.limits.gapMs,
        onLost: (error, future) => this.refuseStep(model, error, () => future),
      });
      const model: LoadedModel = { id, sessionId, adapter, requests, userMetadata, failure: null };
      const baseModel = this.modelName;
      const createdAt = new Date().toISOString();
      await this.store.addRun({ id, sessionId, baseModel, spec, userMetadata, createdAt });
      this.sessions.use(sessionId).modelIds.push(id);
      this.#models.set(id, model);
      return model;
    });
  }

  unload(id: string): void {
    this.model(id);
    this.#models.delete(id);
  }

  forwardBackward(request: ForwardBackwardRequest, fingerprint: string): string {
    const model = this.model(request.modelId);
    const { base } = this.parts;
    // A client that saw the failure and sends anew does not mean what came before it.
    const isAnew = model.failure !== null && this.futures.wasClaimed(model.failure);
    const work = async (): Promise<unknown> => {
      if (isAnew && !request.forwardOnly) model.adapter.allowStep();
      try {
        const unread = request.forwardOnly ? (this.parts.unreadInForward ?? []) : [];
        const lossRequest = readLossRequest(request, base.limits, unread);
        return await base.forwardBackward(model.adapter, lossRequest, !request.forwardOnly);
      } catch (error) {
        if (!request.forwardOnly) this.refuseStep(model, error, () => future);
        throw error;
      }
    };
    const future: string = this.#submit(model, request.seqId, fingerprint, work);
    return future;
  }

  /**
   * A step on part of a batch would be a step that no client requested.
   * @param future of the request that failed.
   */
  refuseStep(model: LoadedModel, reason: unknown, future: () => string): void {
    model.adapter.refuseStep(reason);
    model.failure = future();
  }

  /** Runs `work` in the model's order. */
  inOrder(
    modelId: string,
    seqId: number | null,
    fingerprint: string,
    work: (model: LoadedModel) => unknown,
  ): string {
    const model = this.model(modelId);
    return this.#submit(model, seqId, fingerprint, async () => work(model));
  }

  #submit(
    { requests, sessionId }: LoadedModel,
    seqId: number | null,
    fingerprint: string,
    work: () => Promise<unknown>,
  ): string {
    return requests.submit(seqId, fingerprint, work, (running) => this.start(running, sessionId));
  }

  optimStep(
    model: LoadedModel,
    optim: OptimSpec,
    normalization?: GradientNormalization,
  ): Record<string, number> {
    return this.parts.base.optimStep(model.adapter, optim, normalization);
  }

  // Checkpoints

  /** @returns its path. */
  async save(model: LoadedModel, options: SaveOptions): Promise<string> {
    const { name, kind, ttlSeconds, overwrite, userMetadata, recipients = [] } = options;
    const path = { runId: model.id, kind, name: checkName(name) };
    const { spec } = model.adapter;
    const expiresAt =
      ttlSeconds === null ? null : new Date(Date.now() + ttlSeconds * 1000).toISOString();
    const entry = { ...path, expiresAt, baseModel: this.modelName, spec, userMetadata };
    await this.store.save(entry, overwrite, async (folder) => {
      await saveAdapter(model.adapter, this.modelName, kind === "weights", folder);
      if (recipients.length > 0) await encryptFiles(folder, recipients);
    });
    return formatPath(path);
  }

  async load(model: LoadedModel, path: string, withOptimizer: boolean): Promise<void> {
    const parsed = parsePath(path);
    const checkpoint = await this.#findLoadable(parsed);
    await loadAdapter(model.adapter, checkpoint, this.store.folderOf(parsed), withOptimizer);
  }

  /** @throws RequestError 404, 400 */
  async #findLoadable(path: CheckpointPath): Promise<Checkpoint> {
    const checkpoint = await this.store.find(path);
    this.checkBase(checkpoint.baseModel);
    if (path.kind !== "external_weights") return checkpoint;
    throw new RequestError(
      400,
      `${formatPath(path)} is for download. Load what save_weights or save_weights_for_sampler made.`,
    );
  }

  // Sampling

  /** @param modelPath null samples from the base model, or from `weights`. */
  async createSampler(
    sessionId: string,
    seqId: number,
    modelPath: string | null,
    weights?: AdapterWeights,
  ): Promise<SamplerSession> {
    const sampler = await this.samplers.make(
      `${sessionId}:sample:${seqId}`,
      modelPath,
      weights ?? null,
    );
    if (!this.sessions.has(sessionId)) this.samplers.delete(sampler.id);
    this.sessions.use(sessionId).samplerIds.push(sampler.id);
    return sampler;
  }

  async weightsOf(modelPath: string | null): Promise<AdapterWeights> {
    if (modelPath === null) return baseWeights;
    const parsed = parsePath(modelPath);
    const checkpoint = await this.#findLoadable(parsed);
    return readWeights(checkpoint, this.store.folderOf(parsed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.sessions[Symbol.dispose]();
    this.samplers.stop();
    await this.parts.base[Symbol.asyncDispose]();
  }
}

function describeFailure(error: unknown): Extract<FutureOutcome, { kind: "failed" }> {
  const message = error instanceof Error ? error.message : String(error);
  const isTheirs =
    (error instanceof RequestError && error.status < 500) ||
    error instanceof TinkerWireError ||
    (AgentTrainerError.isInstance(error) && error.code === "NUMERICS");
  return { kind: "failed", message, category: isTheirs ? "user" : "server" };
}

/** A seed for an adapter whose client names none. */
export function sampleSeed(): number {
  return randomInt(2 ** 32);
}

/** Of a model or a sampler: the part of its id that names its session. */
export function sessionOf(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf(":")));
}
