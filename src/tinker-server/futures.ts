/**
 * Promises that clients wait for by id. A result stays for a while after it was fetched, since the
 * response that carried it may have been lost; the oldest go first when they take too much memory, and
 * all of an owner's go with it.
 */
import { randomUUID } from "node:crypto";

export type FutureOutcome =
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly message: string; readonly category: "user" | "server" };

interface Entry {
  readonly owner: string;
  outcome: FutureOutcome | null;
  readonly settled: Promise<void>;
  /** When it may be forgotten. */
  expiresAt: number;
  bytes: number;
  /** The outcome has been sent to a client. */
  claimed: boolean;
}

export interface FutureTimes {
  /** Lifetime of a result that was not fetched. @default 3_600_000 */
  readonly unclaimedMs?: number;
  /** A result that was fetched. @default 300_000 */
  readonly claimedMs?: number;
  /** Of all results together. @default 256 MiB */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

export class Futures {
  readonly #entries = new Map<string, Entry>();
  readonly #options: Required<FutureTimes>;
  #bytes = 0;

  constructor(options: FutureTimes = {}) {
    this.#options = {
      unclaimedMs: 3_600_000,
      claimedMs: 300_000,
      maxBytes: 256 * 2 ** 20,
      now: Date.now,
      ...options,
    };
  }

  /**
   * @param classify what a failure is called; it must not throw.
   * @param owner whose end is that of the result, too.
   */
  add(
    work: Promise<unknown>,
    classify: (error: unknown) => Extract<FutureOutcome, { kind: "failed" }>,
    owner = "",
  ): string {
    this.#forgetExpired();
    const id = randomUUID();
    const settle = (outcome: FutureOutcome): void => {
      entry.outcome = outcome;
      entry.expiresAt = this.#options.now() + this.#options.unclaimedMs;
      if (outcome.kind === "failed" || !this.#entries.has(id)) return;
      entry.bytes = sizeOf(outcome.result);
      this.#bytes += entry.bytes;
      this.#forgetLarge(id);
    };
    const settled = work.then(
      (result) => settle({ kind: "done", result }),
      (error: unknown) => settle(classify(error)),
    );
    const entry: Entry = {
      owner,
      outcome: null,
      settled,
      expiresAt: Infinity,
      bytes: 0,
      claimed: false,
    };
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
    entry.claimed = true;
    entry.expiresAt = Math.min(entry.expiresAt, this.#options.now() + this.#options.claimedMs);
    return entry.outcome;
  }

  /** Resolves when the outcome is there, and at once where there is no such future. */
  async settled(id: string): Promise<void> {
    await this.#entries.get(id)?.settled;
  }

  /** Whose it is; null when there is no such future. */
  ownerOf(id: string): string | null {
    return this.#entries.get(id)?.owner ?? null;
  }

  wasClaimed(id: string): boolean {
    return this.#entries.get(id)?.claimed ?? true;
  }

  forgetOf(owner: string): void {
    for (const [id, entry] of this.#entries) if (entry.owner === owner) this.#delete(id, entry);
  }

  #delete(id: string, { bytes }: Entry): void {
    this.#bytes -= bytes;
    this.#entries.delete(id);
  }

  #forgetExpired(): void {
    const now = this.#options.now();
    for (const [id, entry] of this.#entries) if (entry.expiresAt < now) this.#delete(id, entry);
  }

  /** Fetched ones first. */
  #forgetLarge(newest: string): void {
    for (const claimed of [true, false]) {
      for (const [id, entry] of this.#entries) {
        if (this.#bytes <= this.#options.maxBytes) return;
        if (entry.bytes > 0 && entry.claimed === claimed && id !== newest) this.#delete(id, entry);
      }
    }
  }
}

/** Of its arrays, roughly. */
function sizeOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 8;
  let total = 0;
  for (const inner of Object.values(value)) total += sizeOf(inner);
  return total;
}
