/**
 * Sessions, models and checkpoints of one server: what requests act on. Knows neither HTTP nor how
 * messages are encoded, and nothing of drawing tokens.
 */
import { createHash, randomInt, randomUUID } from "node:crypto";
import { AgentTrainerError } from "../core/errors.ts";
import type { OptimSpec } from "../core/loss.ts";
import type { ForwardBackwardRequest } from "../tinker-api/messages.ts";
import { loadAdapter, readWeights, saveAdapter } from "./adapter-files.ts";
import { checkName, formatPath, parsePath } from "./checkpoint-path.ts";
import type { CheckpointKind } from "./checkpoint-path.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { Futures } from "./futures.ts";
import type { FutureOutcome } from "./futures.ts";
import { baseWeights } from "./model/adapter.ts";
import type { Adapter, AdapterSpec, AdapterWeights } from "./model/adapter.ts";
import { readLossRequest } from "./model/loss-request.ts";
import { OrderedRequests } from "./ordered-requests.ts";
import { RequestError } from "./request-error.ts";
import { Samplers } from "./samplers.ts";
import type { SamplingContext } from "./sampling.ts";
import type { SamplerSession } from "./sampler-table.ts";

export interface Session {
  readonly id: string;
  readonly modelIds: string[];
  readonly samplerIds: string[];
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  lastHeartbeat: number;
}

export interface LoadedModel {
  readonly id: string;
  readonly sessionId: string;
  readonly adapter: Adapter;
  readonly requests: OrderedRequests;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
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
}

export interface SaveOptions {
  readonly name: string;
  readonly kind: CheckpointKind;
  readonly ttlSeconds: number | null;
  readonly overwrite: boolean;
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
}

/** Equal for equal requests. */
export function fingerprintOf(kind: string, body: string | Uint8Array): string {
  return createHash("sha256").update(kind).update("\0").update(body).digest("base64");
}

export class TinkerService implements AsyncDisposable {
  readonly parts: ServiceParts;
  readonly futures: Futures = new Futures();
  readonly #sessions = new Map<string, Session>();
  readonly #models = new Map<string, LoadedModel>();
  readonly samplers: Samplers;
  /** Futures of requests that make something, by what they make. */
  readonly #made = new Map<string, { readonly fingerprint: string; readonly future: string }>();

  constructor(parts: ServiceParts) {
    this.parts = parts;
    this.samplers = new Samplers({
      context: parts,
      limit: parts.limits.samplers,
      weightsOf: (path) => this.weightsOf(path),
      start: (running) => this.start(running),
    });
  }

  get modelName(): string {
    return this.parts.modelName;
  }

  get store(): CheckpointStore {
    return this.parts.store;
  }

  start(running: Promise<unknown>): string {
    return this.futures.add(running, describeFailure);
  }

  // Sessions

  createSession(userMetadata: Session["userMetadata"]): Session {
    this.#endStaleSessions();
    const session: Session = {
      id: randomUUID(),
      modelIds: [],
      samplerIds: [],
      userMetadata,
      lastHeartbeat: Date.now(),
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** @throws RequestError 404 */
  session(id: string): Session {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new RequestError(404, `There is no session "${id}".`);
    return session;
  }

  sessionIds(): readonly string[] {
    return [...this.#sessions.keys()].toReversed();
  }

  heartbeat(id: string): void {
    this.session(id).lastHeartbeat = Date.now();
    this.#endStaleSessions();
  }

  #endStaleSessions(): void {
    const oldest = Date.now() - this.parts.limits.sessionTimeoutMs;
    for (const session of this.#sessions.values()) {
      if (session.lastHeartbeat >= oldest) continue;
      this.#sessions.delete(session.id);
      for (const id of session.modelIds) this.#models.delete(id);
      for (const id of session.samplerIds) this.samplers.delete(id);
      for (const key of this.#made.keys())
        if (key.startsWith(`${session.id}:`)) this.#made.delete(key);
    }
  }

  // Models

  /** @throws RequestError 404 */
  model(id: string): LoadedModel {
    const model = this.#models.get(id);
    if (model === undefined)
      throw new RequestError(404, `Model "${id}" is not loaded. Create it, or load a checkpoint.`);
    return model;
  }

  /** @throws RequestError when the base is another one. */
  checkBase(name: string): void {
    if (name === this.modelName) return;
    throw new RequestError(400, `This server has "${this.modelName}", not "${name}".`);
  }

  checkSpec({ rank, trainAttention, trainMlp }: AdapterSpec): void {
    const { maxRank, maxModels } = this.parts.limits;
    if (!(rank >= 1 && rank <= maxRank))
      throw new RequestError(400, `lora_config.rank is ${rank}, but must be from 1 to ${maxRank}.`);
    if (!trainAttention && !trainMlp)
      throw new RequestError(
        400,
        "This server adapts attention and MLP layers; neither is chosen.",
      );
    if (this.#models.size >= maxModels)
      throw new RequestError(429, `${maxModels} models are loaded, and more do not fit.`);
  }

  /** The same key with the same fingerprint is the same request. @throws RequestError 409 */
  once(key: string, fingerprint: string, work: () => Promise<unknown>): string {
    const before = this.#made.get(key);
    if (before?.fingerprint === fingerprint) return before.future;
    if (before !== undefined)
      throw new RequestError(409, `The sequence number of ${key} was used for something else.`);
    const future = this.start(work());
    this.#made.set(key, { fingerprint, future });
    return future;
  }

  async createModel(
    id: string,
    sessionId: string,
    spec: AdapterSpec,
    userMetadata: LoadedModel["userMetadata"],
  ): Promise<LoadedModel> {
    const adapter = this.parts.base.createAdapter(spec);
    const requests = new OrderedRequests({ gapMs: this.parts.limits.gapMs });
    const model = { id, sessionId, adapter, requests, userMetadata };
    const baseModel = this.modelName;
    const createdAt = new Date().toISOString();
    await this.store.addRun({ id, sessionId, baseModel, spec, userMetadata, createdAt });
    this.#models.set(id, model);
    this.#sessions.get(sessionId)?.modelIds.push(id);
    return model;
  }

  unload(id: string): void {
    this.model(id);
    this.#models.delete(id);
  }

  forwardBackward(request: ForwardBackwardRequest, fingerprint: string): string {
    const model = this.model(request.modelId);
    const { base } = this.parts;
    const work = async (): Promise<unknown> => {
      try {
        const lossRequest = readLossRequest(request, base.limits);
        return await base.forwardBackward(model.adapter, lossRequest, !request.forwardOnly);
      } catch (error) {
        // A step on part of a batch would be a step that nobody asked for.
        if (!request.forwardOnly) model.adapter.refuseStep(error);
        throw error;
      }
    };
    return model.requests.submit(request.seqId, fingerprint, work, (running) =>
      this.start(running),
    );
  }

  /** Runs `work` in the model's order. */
  inOrder(
    modelId: string,
    seqId: number | null,
    fingerprint: string,
    work: (model: LoadedModel) => unknown,
  ): string {
    const model = this.model(modelId);
    return model.requests.submit(
      seqId,
      fingerprint,
      async () => work(model),
      (running) => this.start(running),
    );
  }

  optimStep(model: LoadedModel, optim: OptimSpec): Record<string, number> {
    return this.parts.base.optimStep(model.adapter, optim);
  }

  // Checkpoints

  /** @returns its path. */
  async save(model: LoadedModel, options: SaveOptions): Promise<string> {
    const { name, kind, ttlSeconds, overwrite, userMetadata } = options;
    const path = { runId: model.id, kind, name: checkName(name) };
    const { spec } = model.adapter;
    const expiresAt =
      ttlSeconds === null ? null : new Date(Date.now() + ttlSeconds * 1000).toISOString();
    const entry = { ...path, expiresAt, baseModel: this.modelName, spec, userMetadata };
    await this.store.save(entry, overwrite, (folder) =>
      saveAdapter(model.adapter, this.modelName, kind === "weights", folder),
    );
    return formatPath(path);
  }

  async load(model: LoadedModel, path: string, withOptimizer: boolean): Promise<void> {
    const parsed = parsePath(path);
    const checkpoint = await this.store.find(parsed);
    this.checkBase(checkpoint.baseModel);
    await loadAdapter(model.adapter, checkpoint, this.store.folderOf(parsed), withOptimizer);
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
    this.#sessions.get(sessionId)?.samplerIds.push(sampler.id);
    return sampler;
  }

  async weightsOf(modelPath: string | null): Promise<AdapterWeights> {
    if (modelPath === null) return baseWeights;
    const parsed = parsePath(modelPath);
    const checkpoint = await this.store.find(parsed);
    this.checkBase(checkpoint.baseModel);
    return readWeights(checkpoint, this.store.folderOf(parsed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.samplers.stop();
    await this.parts.base[Symbol.asyncDispose]();
  }
}

function describeFailure(error: unknown): Extract<FutureOutcome, { kind: "failed" }> {
  const message = error instanceof Error ? error.message : String(error);
  const isTheirs =
    (error instanceof RequestError && error.status < 500) ||
    (AgentTrainerError.isInstance(error) && error.code === "NUMERICS");
  return { kind: "failed", message, category: isTheirs ? "user" : "server" };
}

/** A seed for an adapter whose client names none. */
export function drawSeed(): number {
  return randomInt(2 ** 32);
}
