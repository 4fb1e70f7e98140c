/**
 * Sessions by id. One ends when its client says so or falls silent; what it owned is freed by the owner
 * of the table.
 */
import { randomUUID } from "node:crypto";
import { RequestError } from "./request-error.ts";

export interface Session {
  readonly id: string;
  readonly modelIds: string[];
  readonly samplerIds: string[];
  readonly userMetadata: Readonly<Record<string, unknown>> | null;
  lastSign: number;
}

export interface SessionTableOptions {
  /** Silence after which a session ends. */
  readonly timeoutMs: number;
  /** @default random UUIDs */
  readonly newId?: () => string;
  readonly onEnd: (session: Session) => void;
}

const maxSessions = 4096;
/** Their ends are remembered, so that late heartbeats get a clear response. */
const rememberedEnds = 10_000;

export class SessionTable implements Disposable {
  readonly #options: SessionTableOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #ended = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: SessionTableOptions) {
    this.#options = options;
    const everyMs = Math.min(Math.max(options.timeoutMs / 4, 10), 30_000);
    this.#timer = setInterval(() => this.endSilent(), everyMs);
    this.#timer.unref();
  }

  /** @throws RequestError 429 */
  create(userMetadata: Session["userMetadata"]): Session {
    this.endSilent();
    if (this.#sessions.size >= maxSessions)
      throw new RequestError(
        429,
        `${maxSessions} sessions are open, and there is room for no more.`,
      );
    const session: Session = {
      id: (this.#options.newId ?? randomUUID)(),
      modelIds: [],
      samplerIds: [],
      userMetadata,
      lastSign: Date.now(),
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Newest first. */
  ids(): readonly string[] {
    return [...this.#sessions.keys()].toReversed();
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Used by its client, so it is alive. @throws RequestError 410 when it has ended, 404 */
  use(id: string): Session {
    const session = this.find(id);
    session.lastSign = Date.now();
    return session;
  }

  /** A sign of life, if there is such a session. */
  touch(id: string): void {
    const session = this.#sessions.get(id);
    if (session !== undefined) session.lastSign = Date.now();
  }

  /** @throws RequestError 410 when it has ended, 404 */
  find(id: string): Session {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    if (this.#ended.has(id))
      throw new RequestError(410, `Session "${id}" has ended. Open a new one.`);
    throw new RequestError(404, `There is no session "${id}".`);
  }

  /** The first end counts; a repeated one changes nothing. @throws RequestError 404 */
  end(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      if (!this.#ended.has(id)) throw new RequestError(404, `There is no session "${id}".`);
      return;
    }
    this.#sessions.delete(id);
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > rememberedEnds && oldest !== undefined) this.#ended.delete(oldest);
    this.#options.onEnd(session);
  }

  endSilent(): void {
    const oldest = Date.now() - this.#options.timeoutMs;
    for (const { id, lastSign } of this.#sessions.values()) if (lastSign < oldest) this.end(id);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
