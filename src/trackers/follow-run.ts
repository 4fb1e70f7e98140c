/**
 * Passes events to trackers without ever waiting for one: each has its own queue, a deadline per call,
 * and is dropped, with one warning, when it fails.
 */
import type { TrainerEvent } from "../core/events.ts";
import type { Tracker } from "../core/tracker.ts";
import { raceAbort } from "../util/abort.ts";
import { redact } from "../util/redact.ts";

/** Events that may wait for one tracker; with more, the tracker is too slow to be useful. */
const maxWaiting = 10_000;

export interface FollowOptions {
  /** Milliseconds for one call of a tracker. */
  readonly timeoutMs: number;
  readonly warn: (message: string) => void;
}

export interface Followers {
  readonly track: (event: TrainerEvent) => void;
  /** Passes on the last event and closes the trackers; takes at most two deadlines. */
  readonly end: (event: TrainerEvent) => Promise<void>;
}

class Follower {
  readonly #tracker: Tracker;
  readonly #options: FollowOptions;
  readonly #waiting: TrainerEvent[] = [];
  #work: Promise<void> = Promise.resolve();
  #isBusy = false;
  #hasFailed = false;

  constructor(tracker: Tracker, options: FollowOptions) {
    this.#tracker = tracker;
    this.#options = options;
  }

  track(event: TrainerEvent): void {
    if (this.#hasFailed || !this.#tracker.events.includes(event.type)) return;
    if (this.#waiting.length === maxWaiting) {
      this.#fail(`is too slow: ${maxWaiting} events wait for it`);
      return;
    }
    this.#waiting.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#work = this.#drain();
  }

  async #drain(): Promise<void> {
    // The event is passed on after the caller, who computes, is done.
    await Promise.resolve();
    while (!this.#hasFailed) {
      const event = this.#waiting.shift();
      if (event === undefined) break;
      await this.#call("track", (signal) => this.#tracker.track(event, signal));
    }
    this.#isBusy = false;
  }

  async #call(what: string, work: (signal: AbortSignal) => void | Promise<void>): Promise<void> {
    const { timeoutMs } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      await raceAbort(Promise.resolve(work(signal)), signal);
    } catch (error) {
      const isLate = signal.aborted;
      const reason = error instanceof Error ? error.message : String(error);
      this.#fail(isLate ? `did not ${what} within ${timeoutMs / 1000} s` : `failed: ${reason}`);
    }
  }

  #fail(reason: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#waiting.length = 0;
    this.#options.warn(
      redact(`The tracker ${this.#tracker.name} ${reason}. It receives nothing more of this run.`),
    );
  }

  async end(event: TrainerEvent): Promise<void> {
    this.track(event);
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    await raceAbort(this.#work, signal).catch(() => {
      this.#fail(
        `did not receive everything within ${this.#options.timeoutMs / 1000} s of the end`,
      );
    });
    await this.#call("close", (closing) => this.#tracker.close?.(closing));
  }
}

/** Follows a run with any number of trackers. */
export function followRun(trackers: readonly Tracker[], options: FollowOptions): Followers {
  const followers = trackers.map((tracker) => new Follower(tracker, options));
  return {
    track(event) {
      // Passed on by `end`, which also waits.
      if (event.type === "run-end") return;
      for (const follower of followers) follower.track(event);
    },
    async end(event) {
      await Promise.all(followers.map((follower) => follower.end(event)));
    },
  };
}
