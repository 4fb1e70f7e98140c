/** One episode that a server holds for a client: its calls, each run once, and their results for a while. */
import type { EnvironmentEpisode, EnvironmentResult } from "../../core/environment.ts";
import { randomUUID } from "node:crypto";

/** Time that a result stays for a client whose connection was cut. */
const lingerMs = 60_000;

/** What a call came to, for the wire; an `error` is one of the environment itself. */
export interface ServedResult {
  readonly event: "end" | "error";
  readonly text: string;
}

/** A call that has begun. */
export interface ServedCall {
  readonly id: string;
  /** Never rejects. */
  readonly result: Promise<ServedResult>;
}

/** An episode with its calls. */
export class ServedSession {
  readonly episode: EnvironmentEpisode;
  /** When the client was last heard of, in milliseconds. */
  seenAt: number = Date.now();
  readonly #calls = new Map<string, ServedCall>();
  readonly #stop = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #isFinished = false;

  constructor(episode: EnvironmentEpisode) {
    this.episode = episode;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** A call by its id; undefined when it is unknown, or its result is gone. */
  find(id: string): ServedCall | undefined {
    return this.#calls.get(id);
  }

  /** Begins a call after those before it. `format` makes its result, also of a failure. */
  begin(
    run: (signal: AbortSignal) => Promise<EnvironmentResult>,
    format: (outcome: EnvironmentResult | Error) => ServedResult,
  ): ServedCall {
    const id = randomUUID().replaceAll("-", "");
    const result = this.#last.then(async () => {
      try {
        const outcome = await run(this.#stop.signal);
        this.#isFinished ||= outcome.done === true;
        return format(outcome);
      } catch (error) {
        return format(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.#last = result;
    const call = { id, result };
    this.#calls.set(id, call);
    void result.then(() => setTimeout(() => this.#calls.delete(id), lingerMs).unref());
    return call;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("The session was closed."));
    await this.episode.close();
  }
}
