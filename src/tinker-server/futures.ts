/**
 * Promises that clients wait for by id. A result stays for a while after it was fetched, since the
 * answer that carried it may have been lost.
 */
import { randomUUID } from "node:crypto";

export type FutureOutcome =
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly message: string; readonly category: "user" | "server" };

interface Entry {
  outcome: FutureOutcome | null;
  readonly settled: Promise<void>;
  /** When it may be forgotten. */
  expiresAt: number;
}

export interface FutureTimes {
  /** A result that nobody asked for. @default 3_600_000 */
  readonly unclaimedMs?: number;
  /** A result that was fetched. @default 300_000 */
  readonly claimedMs?: number;
  readonly now?: () => number;
}

export class Futures {
  readonly #entries = new Map<string, Entry>();
  readonly #times: Required<FutureTimes>;

  constructor(times: FutureTimes = {}) {
    this.#times = { unclaimedMs: 3_600_000, claimedMs: 300_000, now: Date.now, ...times };
  }

  /** @param classify what a failure is called; it must not throw. */
  add(
    work: Promise<unknown>,
    classify: (error: unknown) => Extract<FutureOutcome, { kind: "failed" }>,
  ): string {
    this.#forget();
    const id = randomUUID();
    const settled = work.then(
      (result) => void (entry.outcome = { kind: "done", result }),
      (error: unknown) => void (entry.outcome = classify(error)),
    );
    const entry: Entry = { outcome: null, settled, expiresAt: Infinity };
    void settled.then(() => (entry.expiresAt = this.#times.now() + this.#times.unclaimedMs));
    this.#entries.set(id, entry);
    return id;
  }

  /** `pending` when it takes longer than `waitMs`; null when there is no such future. */
  async wait(id: string, waitMs: number): Promise<FutureOutcome | "pending" | null> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    if (entry.outcome === null) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, waitMs);
      });
      await Promise.race([entry.settled, late]);
      clearTimeout(timer);
    }
    if (entry.outcome === null) return "pending";
    entry.expiresAt = Math.min(entry.expiresAt, this.#times.now() + this.#times.claimedMs);
    return entry.outcome;
  }

  #forget(): void {
    const now = this.#times.now();
    for (const [id, { expiresAt }] of this.#entries) if (expiresAt < now) this.#entries.delete(id);
  }
}
