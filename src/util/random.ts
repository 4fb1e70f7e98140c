/** Seeded randomness without hidden state: numbers are functions of a seed and of their purpose. */

/** 32-bit mix of `value` (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** An unsigned 32-bit seed that depends on every part, in order. */
export function deriveSeed(seed: number, ...parts: readonly (number | string)[]): number {
  let h = mix(seed ^ 0x9e3779b9);
  for (const part of parts) {
    if (typeof part === "number") {
      h = mix(Math.imul(h, 31) ^ mix(part ^ 0x27d4eb2f) ^ mix(Math.floor(part / 2 ** 32)));
    } else {
      h = mix(h ^ 0x165667b1);
      for (let i = 0; i < part.length; i++) h = mix(Math.imul(h, 31) ^ part.charCodeAt(i));
    }
  }
  return h;
}

/** A stream of numbers in [0, 1) with 32 bits each (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Standard normal numbers (Box-Muller) from a stream of uniform ones. */
export function createNormal(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A shuffled copy (Fisher-Yates). */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const copy = items.slice();
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
