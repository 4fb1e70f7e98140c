/**
 * One server's sessions, models, checkpoints and samplers, which requests act on. Knows neither HTTP nor
 * how messages are encoded.
 */
import { randomInt } from "node:crypto";
import { AgentTrainerError } from "../core/errors.ts";
import { defined } from "../util/defined.ts";
import type { OptimSpec } from "../core/loss/loss.ts";
import type { ForwardBackwardRequest } from "../tinker-api/messages.ts";
import { TinkerWireError } from "../tinker-api/tinker-error.ts";
import type { CheckpointStore } from "./checkpoints/checkpoint-store.ts";
import { ModelCheckpoints, type SaveOptions } from "./checkpoints/model-checkpoints.ts";
import { Futures, type FutureOutcome } from "./futures.ts";
import { MadeOnce } from "./made-once.ts";
import type { AdapterSpec, AdapterWeights, GradientNormalization } from "./model/adapter.ts";
import { ModelTable, type LoadedModel, type ModelLimits } from "./model-table.ts";
import { OrderedRequests } from "./ordered-requests.ts";
import { RequestError } from "./request-error.ts";
import { Samplers } from "./sampling/samplers.ts";
import type { SamplingContext } from "./sampling/sampling.ts";
import type { SamplerSession } from "./sampling/sampler-table.ts";
import { SessionTable, type Session } from "./session-table.ts";
import { TrainingRequests } from "./training-requests.ts";

interface ServiceLimits extends ModelLimits {
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

export class TinkerService implements AsyncDisposable {
  readonly parts: ServiceParts;
  readonly futures: Futures = new Futures();
  readonly sessions: SessionTable;
  readonly samplers: Samplers;
  readonly #models: ModelTable;
  readonly #made = new MadeOnce();
  readonly #training: TrainingRequests;
  readonly #checkpoints: ModelCheckpoints;

  constructor(parts: ServiceParts) {
    this.parts = parts;
    this.#models = new ModelTable(parts.limits);
    this.#checkpoints = new ModelCheckpoints(parts.store, parts.modelName);
    this.#training = new TrainingRequests({
      base: parts.base,
      futures: this.futures,
      start: (running, sessionId) => this.start(running, sessionId),
      unreadInForward: parts.unreadInForward ?? [],
    });
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

  /** The same key with the same fingerprint is the same request. @throws RequestError 409 */
  once(key: string, fingerprint: string, work: () => Promise<unknown>): string {
    return this.#made.start(key, fingerprint, () => this.start(work(), sessionOf(key)));
  }

  /** All that a session had, at once; checkpoints stay. */
  #free(session: Session): void {
    const ended = new RequestError(410, `Session "${session.id}" has ended.`);
    for (const id of session.modelIds) this.#models.end(id, ended);
    for (const id of session.samplerIds) this.samplers.delete(id);
    this.#made.forget((key) => sessionOf(key) === session.id);
    this.futures.forgetOf(session.id);
  }

  // Models

  /** @throws RequestError 404 */
  model(id: string): LoadedModel {
    const model = this.#models.find(id);
    this.sessions.use(model.sessionId);
    return model;
  }

  /** Of the models that are loaded, oldest first. */
  modelIds(): readonly string[] {
    return this.#models.ids();
  }

  /** @throws RequestError 400 when the base is another one. */
  checkBase(name: string): void {
    this.#checkpoints.checkBase(name);
  }

  /** @throws RequestError 400 for an adapter that cannot be made here. */
  checkSpec(spec: AdapterSpec): void {
    this.#models.checkSpec(spec);
  }

  async createModel(
    id: string,
    sessionId: string,
    spec: AdapterSpec,
    userMetadata: LoadedModel["userMetadata"],
  ): Promise<LoadedModel> {
    this.sessions.endSilent();
    return this.#models.withRoom(async () => {
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
      this.#models.add(model);
      return model;
    });
  }

  unload(id: string): void {
    this.model(id);
    this.#models.delete(id);
  }

  // Training

  forwardBackward(request: ForwardBackwardRequest, fingerprint: string): string {
    return this.#training.forwardBackward(this.model(request.modelId), request, fingerprint);
  }

  /** @param future of the request that failed, which refuses the step after it. */
  refuseStep(model: LoadedModel, reason: unknown, future: () => string): void {
    this.#training.refuseStep(model, reason, future);
  }

  /** Runs `work` in the model's order. */
  inOrder(
    modelId: string,
    seqId: number | null,
    fingerprint: string,
    work: (model: LoadedModel) => unknown,
  ): string {
    const model = this.model(modelId);
    return this.#training.submit(model, seqId, fingerprint, async () => work(model));
  }

  optimStep(
    model: LoadedModel,
    optim: OptimSpec,
    normalization?: GradientNormalization,
  ): Record<string, number> {
    return this.#training.optimStep(model, optim, normalization);
  }

  // Checkpoints

  /** @returns its path. */
  save(model: LoadedModel, options: SaveOptions): Promise<string> {
    return this.#checkpoints.save(model, options);
  }

  load(model: LoadedModel, path: string, withOptimizer: boolean): Promise<void> {
    return this.#checkpoints.load(model, path, withOptimizer);
  }

  /** Of a checkpoint, or with null of the base model. */
  weightsOf(path: string | null): Promise<AdapterWeights> {
    return this.#checkpoints.weightsOf(path);
  }

  // Sampling

  /** @param modelPath null samples from the base model, or from `weights`. */
  async createSampler(
    sessionId: string,
    seqId: number,
    modelPath: string | null,
    weights?: AdapterWeights,
  ): Promise<SamplerSession> {
    const id = `${sessionId}:sample:${seqId}`;
    const sampler = await this.samplers.make(id, modelPath, weights ?? null);
    if (!this.sessions.has(sessionId)) this.samplers.delete(sampler.id);
    this.sessions.use(sessionId).samplerIds.push(sampler.id);
    return sampler;
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
