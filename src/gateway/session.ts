/** The state of one open session: its secret, its conversation, its calls in flight. Knows no HTTP. */
import { AgentTrainerError } from "../core/errors.ts";
import type { SessionOptions } from "../core/session.ts";
import type { Trace } from "../core/trace.ts";
import { createToken, tokenDigest } from "./auth.ts";
import type { CallAbort } from "./call-abort.ts";
import { Conversation } from "./conversation.ts";
import { RawPrompts } from "./raw-prompts.ts";
import type { TraceStore } from "./trace-store.ts";

export class CaptureSession {
  readonly uid: string;
  readonly apiKey: string;
  readonly keyDigest: Buffer;
  readonly options: SessionOptions;
  readonly conversation: Conversation = new Conversation();
  readonly rawPrompts: RawPrompts = new RawPrompts();
  readonly #store: TraceStore;
  readonly #inFlight = new Map<CallAbort, Promise<void>>();
  readonly #occurrences = new Map<string, number>();
  /** Handle uid to the name it was asked for by. */
  readonly #trajectoryNames = new Map<string, string>();
  #nextSequence = 0;
  #closing: Promise<void> | undefined;

  constructor(options: SessionOptions, store: TraceStore) {
    this.uid = options.uid;
    this.options = options;
    this.apiKey = createToken("session");
    this.keyDigest = tokenDigest(this.apiKey);
    this.#store = store;
  }

  /** From the moment `close` is called; the token opens nothing any more. */
  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Uid of the trajectory of this name. */
  nameTrajectory(name: string): string {
    const uid = `${this.uid}:${name}`;
    this.#trajectoryNames.set(uid, name);
    return uid;
  }

  /** What seeds know a trajectory by: the same in every session, unlike its uid. */
  trajectoryLabel(uid: string | null): string {
    return uid === null ? "" : `/${this.#trajectoryNames.get(uid) ?? uid}`;
  }

  /** Order of dispatch, from 0. */
  takeSequence(): number {
    return this.#nextSequence++;
  }

  /** How often `key` was asked for before. */
  countOccurrence(key: string): number {
    const seen = this.#occurrences.get(key) ?? 0;
    this.#occurrences.set(key, seen + 1);
    return seen;
  }

  /** Runs a call that `traces` waits for and `close` aborts. */
  async track<T>(abort: CallAbort, work: () => Promise<T>): Promise<T> {
    try {
      if (this.closed) {
        throw new AgentTrainerError({
          code: "ABORTED",
          message: "The session was closed before this call was dispatched.",
        });
      }
      const running = work();
      const settled = running.then(
        () => undefined,
        () => undefined,
      );
      this.#inFlight.set(abort, settled);
      return await running;
    } finally {
      this.#inFlight.delete(abort);
      abort.dispose();
    }
  }

  async record(trace: Trace): Promise<void> {
    await this.#store.append(trace);
  }

  /** Everything captured, once the calls that are in flight now have settled. */
  async traces(): Promise<readonly Trace[]> {
    await Promise.all(this.#inFlight.values());
    return this.#closing ? [] : this.#store.bySession(this.uid);
  }

  /** Aborts calls in flight, then forgets the traces. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const abort of this.#inFlight.keys()) abort.abort("closed");
    await Promise.all(this.#inFlight.values());
    await this.#store.deleteSession(this.uid);
  }
}
