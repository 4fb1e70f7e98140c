/** The state of one open session: its conversation, its calls in flight. Knows no HTTP. */
import { AgentTrainerError } from "../../core/errors.ts";
import { toApiError } from "../http/api-error.ts";
import { adapterOfRole, type SessionOptions } from "../../core/session.ts";
import type { Trace } from "../../core/trace.ts";
import type { CallAbort } from "../call/call-abort.ts";
import { CallLimiter } from "./call-limits.ts";
import { Conversation } from "./conversation.ts";
import { FailedCalls } from "./failed-calls.ts";
import { LostResponses } from "./lost-responses.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { RawPrompts } from "./raw-prompts.ts";
import { restoreSession } from "./session-restore.ts";
import type { StoredSession, TraceStore } from "../store/trace-store.ts";

/** What all sessions of a gateway share. */
export interface SessionServices {
  readonly store: TraceStore;
  readonly metrics: GatewayMetrics;
}

export class CaptureSession {
  readonly uid: string;
  readonly keyDigest: Buffer;
  readonly createdAt: number;
  readonly options: SessionOptions;
  readonly conversation: Conversation = new Conversation();
  readonly rawPrompts: RawPrompts = new RawPrompts();
  readonly lost: LostResponses = new LostResponses();
  readonly failedCalls: FailedCalls = new FailedCalls();
  /** The response to the last request, where that was an error of the server; else null. */
  serverError: string | null = null;
  /** Performance clock, in milliseconds. */
  lastUsedAt: number = performance.now();
  readonly #services: SessionServices;
  readonly #limiter: CallLimiter;
  readonly #inFlight = new Map<CallAbort, Promise<void>>();
  readonly #occurrences = new Map<string, number>();
  /** Handle uid to the name that it was requested by. */
  readonly #trajectoryNames = new Map<string, string>();
  /** Of handles whose role is not their name. */
  readonly #roles = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  #traceCount: number;
  #nextSequence = 0;
  #restoring: Promise<void> | undefined;
  #ending: Promise<void> | undefined;

  constructor(stored: StoredSession, services: SessionServices) {
    this.uid = stored.uid;
    this.keyDigest = Buffer.from(stored.keyDigest);
    this.createdAt = stored.createdAt;
    this.options = stored;
    this.#traceCount = stored.traceCount;
    this.#services = services;
    this.#limiter = new CallLimiter();
    // A new session has nothing to read.
    if (stored.traceCount === 0) this.#restoring = Promise.resolve();
  }

  /** From the moment `close` or `suspend` is called; the token opens nothing any more. */
  get closed(): boolean {
    return this.#ending !== undefined;
  }

  get traceCount(): number {
    return this.#traceCount;
  }

  get callsInFlight(): number {
    return this.#inFlight.size;
  }

  /** Resolves when calls can continue what was captured before a restart. */
  ready(): Promise<void> {
    this.#restoring ??= this.#restore();
    return this.#restoring;
  }

  /** Uid of the trajectory of this name. */
  nameTrajectory(name: string, role?: string): string {
    const uid = `${this.uid}:${name}`;
    this.#trajectoryNames.set(uid, name);
    if (role !== undefined) this.#roles.set(uid, role);
    return uid;
  }

  /** What samples the calls of a trajectory; undefined where roles have no adapters. */
  adapterOf(uid: string | null): string | null | undefined {
    const { adapters } = this.options;
    if (adapters === undefined) return undefined;
    const role = uid === null ? adapters.defaultRole : (this.#roles.get(uid) ?? this.#nameOf(uid));
    return adapterOfRole(adapters, role);
  }

  #nameOf(uid: string): string {
    const prefix = `${this.uid}:`;
    return uid.startsWith(prefix) ? uid.slice(prefix.length) : uid;
  }

  /** What seeds know a trajectory by: the same in every session, unlike its uid. */
  trajectoryLabel(uid: string | null): string {
    return uid === null ? "" : `/${this.#trajectoryNames.get(uid) ?? uid}`;
  }

  /** Order of dispatch, from 0. */
  takeSequence(): number {
    return this.#nextSequence++;
  }

  /**
   * Counts a prompt, and says how often it was sent before. Each trajectory counts its own, so that
   * roles that send the same prompt at the same time do not race.
   */
  countPrompt(
    prompt: string,
    trajectoryUid: string | null,
  ): { readonly key: string; readonly occurrence: number } {
    const key = prompt + this.trajectoryLabel(trajectoryUid);
    const occurrence = this.#occurrences.get(key) ?? 0;
    this.#occurrences.set(key, occurrence + 1);
    return { key, occurrence };
  }

  /** Handles one request of the agent. @throws ApiError 429 when too many are there already. */
  async response<T>(work: () => Promise<T>): Promise<T> {
    this.#limiter.arrive();
    try {
      await this.ready();
      const response = await work();
      this.serverError = null;
      return response;
    } catch (error) {
      const { status, message, reason } = toApiError(error);
      // Its own deadline is a limit, and an abort is the caller's doing.
      const isOfServer = status >= 500 && reason !== "timeout" && reason !== "aborted";
      this.serverError = isOfServer ? message : null;
      throw error;
    } finally {
      this.#limiter.depart();
    }
  }

  /** Runs a call that `traces` waits for and `close` aborts. @throws ApiError 429 beyond the limits. */
  async track<T>(abort: CallAbort, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    let outcome: "done" | "failed" = "failed";
    try {
      if (this.closed) {
        throw new AgentTrainerError({
          code: "ABORTED",
          message: "The session was closed before this call was dispatched.",
        });
      }
      this.#limiter.enter();
      try {
        const result = await this.#run(abort, work());
        outcome = "done";
        return result;
      } finally {
        this.#limiter.leave();
        this.#services.metrics.called(performance.now() - start, outcome);
      }
    } finally {
      this.lastUsedAt = performance.now();
      abort.dispose();
    }
  }

  /** All choices of one call, or none of them. */
  async record(traces: readonly Trace[]): Promise<void> {
    await this.#services.store.append(traces);
    this.#traceCount += traces.length;
    this.#services.metrics.recorded(traces);
    this.#notify();
  }

  /** Everything captured, once the calls that are in flight now have settled. */
  async traces(): Promise<readonly Trace[]> {
    await Promise.all(this.#inFlight.values());
    return this.closed ? [] : this.#services.store.bySession(this.uid);
  }

  /** What is stored now; calls in flight are not waited for. */
  async storedTraces(): Promise<readonly Trace[]> {
    return this.#services.store.bySession(this.uid);
  }

  /** Calls back at every change: traces have arrived, or the session has ended. Returns how to stop. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  /** Aborts calls in flight, then forgets the traces. Idempotent. */
  close(): Promise<void> {
    this.#ending ??= this.#end(true);
    return this.#ending;
  }

  /** As `close`, but the store keeps everything, for a gateway that starts later. */
  suspend(): Promise<void> {
    this.#ending ??= this.#end(false);
    return this.#ending;
  }

  async #run<T>(abort: CallAbort, running: Promise<T>): Promise<T> {
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.#inFlight.set(abort, settled);
    try {
      return await running;
    } finally {
      this.#inFlight.delete(abort);
    }
  }

  async #end(forget: boolean): Promise<void> {
    for (const abort of this.#inFlight.keys()) abort.abort("closed");
    await Promise.all(this.#inFlight.values());
    if (forget) await this.#services.store.deleteSession(this.uid);
    this.#notify();
  }

  #notify(): void {
    for (const onChange of this.#watchers) onChange();
  }

  async #restore(): Promise<void> {
    try {
      this.#nextSequence = restoreSession(this, await this.#services.store.bySession(this.uid));
    } catch (error) {
      this.#restoring = undefined;
      throw error;
    }
  }
}
