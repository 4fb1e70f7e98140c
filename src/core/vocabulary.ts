/** The bytes of every token of a model: what token masks are computed from. */
export interface Vocabulary {
  /** Ids from 0 to size - 1. */
  readonly size: number;
  /** Bytes of all tokens, one after another. */
  readonly bytes: Uint8Array;
  /** [size + 1] where each token begins; one without bytes is never part of a text. */
  readonly offsets: Uint32Array;
  /** Added tokens by their text; they have no bytes. */
  readonly added: ReadonlyMap<string, number>;
}
