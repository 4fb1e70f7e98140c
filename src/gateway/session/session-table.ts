/** The open sessions of a gateway: their number, their age, and how they survive a restart. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { SessionOptions } from "../../core/session.ts";
import { ApiError } from "../http/api-error.ts";
import { createToken, tokenDigest } from "../../http/keys.ts";
import { encodeSegment } from "../http/path.ts";
import { CaptureSession, type SessionServices } from "./session.ts";

export interface SessionTableOptions extends SessionServices {
  readonly maxSessions: number;
  /** A session without a call for this long is closed; undefined for never. */
  readonly sessionIdleMs: number | undefined;
  readonly report: (error: unknown) => void;
}

/** A session, and the token that opens it, which is returned only once. */
export interface OpenedSession {
  readonly session: CaptureSession;
  readonly apiKey: string;
}

const maxSweepMs = 30_000;
/** Closed sessions that are remembered, so that the holders of their tokens learn that they are closed. */
const maxClosed = 10_000;

export class SessionTable {
  readonly #sessions = new Map<string, CaptureSession>();
  /** Digests of tokens, oldest first. */
  readonly #closedKeys = new Map<string, Buffer>();
  readonly #options: SessionTableOptions;
  readonly #sweep: NodeJS.Timeout | undefined;
  #closed = false;

  /** Takes back what the store kept of an earlier gateway. */
  constructor(options: SessionTableOptions) {
    this.#options = options;
    for (const stored of options.store.sessions()) {
      this.#sessions.set(stored.uid, new CaptureSession(stored, options));
    }
    const { sessionIdleMs } = options;
    if (sessionIdleMs === undefined) return;
    const every = Math.min(maxSweepMs, Math.max(10, sessionIdleMs / 4));
    this.#sweep = setInterval(() => {
      this.#closeIdle(performance.now() - sessionIdleMs);
    }, every);
    this.#sweep.unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  get callsInFlight(): number {
    let calls = 0;
    for (const session of this.#sessions.values()) calls += session.callsInFlight;
    return calls;
  }

  get(uid: string): CaptureSession | undefined {
    return this.#sessions.get(uid);
  }

  /** The digest of the token that opened a session until it was closed. */
  closedKey(uid: string): Buffer | undefined {
    return this.#closedKeys.get(uid);
  }

  /** Oldest first. */
  all(): readonly CaptureSession[] {
    return [...this.#sessions.values()];
  }

  /**
   * Resolves when the session is kept.
   * @throws AgentTrainerError REQUEST_INVALID when the uid is taken or cannot be used; ApiError 429 when
   * there are too many.
   */
  async open(options: SessionOptions): Promise<OpenedSession> {
    if (this.#closed) {
      throw new AgentTrainerError({ code: "ABORTED", message: "The gateway is closed." });
    }
    encodeSegment(options.uid);
    if (this.#sessions.has(options.uid)) {
      throw new AgentTrainerError({
        code: "REQUEST_INVALID",
        message: `A session with the uid ${JSON.stringify(options.uid)} is already open.`,
        hint: "Give every rollout and every retry a separate uid, or close the other session first.",
        fields: { uid: options.uid },
      });
    }
    const { maxSessions } = this.#options;
    if (this.#sessions.size >= maxSessions) {
      throw new ApiError({
        status: 429,
        message: `${maxSessions} sessions are open, which is the most that are allowed.`,
        reason: "too_many_sessions",
        retryAfterS: 5,
      });
    }
    const apiKey = createToken("session");
    const record = { ...options, keyDigest: tokenDigest(apiKey), createdAt: Date.now() };
    const session = new CaptureSession({ ...record, traceCount: 0 }, this.#options);
    this.#sessions.set(options.uid, session);
    try {
      await this.#options.store.saveSession(record);
    } catch (error) {
      this.#sessions.delete(options.uid);
      throw error;
    }
    return { session, apiKey };
  }

  /** The token stops working at once; the uid is free again when this resolves. */
  async close(session: CaptureSession): Promise<void> {
    this.#rememberClosed(session);
    await session.close();
    if (this.#sessions.get(session.uid) === session) this.#sessions.delete(session.uid);
  }

  /** Ends all sessions; the store keeps them. */
  async suspendAll(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    await Promise.all([...this.#sessions.values()].map((session) => session.suspend()));
    this.#sessions.clear();
  }

  #rememberClosed({ uid, keyDigest }: CaptureSession): void {
    this.#closedKeys.delete(uid);
    this.#closedKeys.set(uid, keyDigest);
    const [oldest] = this.#closedKeys.keys();
    if (this.#closedKeys.size > maxClosed && oldest !== undefined) {
      this.#closedKeys.delete(oldest);
    }
  }

  #closeIdle(since: number): void {
    for (const session of this.#sessions.values()) {
      if (session.lastUsedAt > since || session.callsInFlight > 0 || session.closed) continue;
      this.#options.metrics.expired();
      this.close(session).catch(this.#options.report);
    }
  }
}
