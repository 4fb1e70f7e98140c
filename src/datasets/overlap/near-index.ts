/**
 * Finds texts that share most of their shingles, without comparing all pairs. Two sets with a Jaccard
 * similarity of at least t share one of their rarest (1 - t) n + 1 elements (Bayardo, Ma and Srikant 2007,
 * "Scaling up all pairs similarity search"), so only those are indexed, and what they find is compared
 * exactly.
 */
import { type Shingles, jaccard } from "./shingles.ts";

/** Similarity from which two texts are near duplicates. */
export const nearThreshold = 0.7;

/** Comparisons for one text; only texts of one template need more. */
const maxCandidates = 1000;

interface Entry extends Shingles {
  readonly id: number;
}

export class NearIndex {
  readonly #frequency = new Map<number, number>();
  readonly #byHash = new Map<number, Entry[]>();

  /** First for every text that will be added: rare shingles are those that tell texts apart. */
  count({ hashes }: Shingles): void {
    for (const hash of hashes) this.#frequency.set(hash, (this.#frequency.get(hash) ?? 0) + 1);
  }

  #rarest({ hashes }: Shingles): Uint32Array {
    // One number per shingle, its frequency before its hash: typed arrays sort numbers natively.
    const keys = Float64Array.from(
      hashes,
      (hash) => (this.#frequency.get(hash) ?? 0) * 2 ** 32 + hash,
    ).sort();
    const count = hashes.length - Math.ceil(nearThreshold * hashes.length) + 1;
    return Uint32Array.from(keys.subarray(0, count), (key) => key % 2 ** 32);
  }

  add(id: number, shingles: Shingles): void {
    const entry = { id, ...shingles };
    for (const hash of this.#rarest(shingles)) {
      const entries = this.#byHash.get(hash);
      if (entries === undefined) this.#byHash.set(hash, [entry]);
      else entries.push(entry);
    }
  }

  /** Added texts that are nearly the same and have the same numbers. */
  find(shingles: Shingles): readonly number[] {
    const found: number[] = [];
    // The similarity is at most the share of shingles that any added text has.
    let known = 0;
    for (const hash of shingles.hashes) if (this.#frequency.has(hash)) known += 1;
    if (known < nearThreshold * shingles.hashes.length) return found;
    const seen = new Set<number>();
    let own: ReadonlySet<number> | null = null;
    for (const hash of this.#rarest(shingles)) {
      for (const entry of this.#byHash.get(hash) ?? []) {
        if (entry.numbers !== shingles.numbers || seen.has(entry.id)) continue;
        if (seen.size === maxCandidates) return found;
        seen.add(entry.id);
        own ??= new Set(shingles.hashes);
        if (jaccard(entry.hashes, own) >= nearThreshold) found.push(entry.id);
      }
    }
    return found;
  }
}
