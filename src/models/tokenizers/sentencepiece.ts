/**
 * A SentencePiece vocabulary, as GGUF files of Llama 2 and similar models contain, as the parts of a
 * `tokenizer.json`. SentencePiece joins the two neighbors whose piece has the best score; a
 * `tokenizer.json` expresses the same by an ordered list of pairs, which is built here.
 */

/** Replaces a space. */
const space = "\u2581";

export interface SentencePieceVocabulary {
  /** Pieces that text consists of, including byte pieces and the unknown one. */
  readonly vocab: Readonly<Record<string, number>>;
  /** By id; higher ones are joined first. */
  readonly scores: readonly number[];
  /** Pieces that no merge produces: bytes and the unknown one. */
  readonly unjoined: ReadonlySet<string>;
  readonly unknown: string | undefined;
  /** A space is prepended to text. */
  readonly addsSpace: boolean;
}

/** Every way to join two pieces to a third, the best score first. */
function mergesOf({ vocab, scores, unjoined }: SentencePieceVocabulary): [string, string][] {
  const isPart = (piece: string): boolean => Object.hasOwn(vocab, piece) && !unjoined.has(piece);
  return Object.keys(vocab)
    .filter((piece) => !unjoined.has(piece))
    .toSorted((a, b) => scores[vocab[b]!]! - scores[vocab[a]!]!)
    .flatMap((piece) => {
      // Pieces are cut between characters, which may be two units each.
      const characters = [...piece];
      return characters.slice(1).flatMap((_, i): [string, string][] => {
        const pair: [string, string] = [
          characters.slice(0, i + 1).join(""),
          characters.slice(i + 1).join(""),
        ];
        return pair.every(isPart) ? [pair] : [];
      });
    });
}

/** Normalizer, decoder and model of a `tokenizer.json`; text is not split before merging. */
export function sentencePieceParts(vocabulary: SentencePieceVocabulary): {
  readonly normalizer: object;
  readonly decoder: object;
  readonly model: object;
} {
  const toMark = { type: "Replace", pattern: { String: " " }, content: space };
  const toSpace = { type: "Replace", pattern: { String: space }, content: " " };
  const { vocab, unknown, addsSpace } = vocabulary;
  const prepended = { type: "Prepend", prepend: space };
  const stripped = { type: "Strip", content: " ", start: 1, stop: 0 };
  return {
    normalizer: { type: "Sequence", normalizers: [...(addsSpace ? [prepended] : []), toMark] },
    decoder: {
      type: "Sequence",
      decoders: [
        toSpace,
        { type: "ByteFallback" },
        { type: "Fuse" },
        ...(addsSpace ? [stripped] : []),
      ],
    },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: unknown ?? null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab,
      merges: mergesOf(vocabulary),
    },
  };
}
