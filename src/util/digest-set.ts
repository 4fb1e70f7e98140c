/** A set of texts that only knows their digests, 64 bits of SHA-256: some 16 bytes for each, whatever its length. */
import { createHash } from "node:crypto";

const firstSlots = 1024;

export class DigestSet {
  /** Two words for each slot; an empty one has two zeros. */
  #words = new Uint32Array(2 * firstSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** False where it was there already. */
  add(text: string): boolean {
    const { high, low } = digestOf(text);
    const at = this.#find(high, low);
    if (this.#words[at] !== 0 || this.#words[at + 1] !== 0) return false;
    this.#words[at] = high;
    this.#words[at + 1] = low;
    this.#size++;
    if (this.#size * 8 > this.#words.length * 3) this.#grow();
    return true;
  }

  has(text: string): boolean {
    const { high, low } = digestOf(text);
    const at = this.#find(high, low);
    return this.#words[at] !== 0 || this.#words[at + 1] !== 0;
  }

  /** Its slot, or the empty one where it would be. */
  #find(high: number, low: number): number {
    const words = this.#words;
    const mask = words.length / 2 - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = 2 * slot;
      const isEmpty = words[at] === 0 && words[at + 1] === 0;
      if (isEmpty || (words[at] === high && words[at + 1] === low)) return at;
    }
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(2 * before.length);
    for (let i = 0; i < before.length; i += 2) {
      const [high, low] = [before[i]!, before[i + 1]!];
      if (high === 0 && low === 0) continue;
      const at = this.#find(high, low);
      this.#words[at] = high;
      this.#words[at + 1] = low;
    }
  }
}

function digestOf(text: string): { readonly high: number; readonly low: number } {
  const bytes = createHash("sha256").update(text).digest();
  const [high, low] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
  // Two zeros are the empty slot.
  return { high, low: high === 0 && low === 0 ? 1 : low };
}
