/** Text to ids and back with a `tokenizer.json`; special tokens only where we say so. */
import { Tokenizer as HubTokenizer } from "@huggingface/tokenizers";
import { ModelError } from "../core/errors.ts";

/** What we use of the library's class; its own types do not resolve under `nodenext`. */
interface LibraryTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(ids: number[], options: { skip_special_tokens: boolean }): string;
  token_to_id(token: string): number | undefined;
}

export interface TextTokenizer {
  /** Plain text: what looks like a special token is encoded as ordinary characters. */
  encode(text: string): number[];
  /** Special tokens appear as their text. */
  decode(ids: ArrayLike<number>): string;
  /** @throws ModelError when the vocabulary has no such token. */
  special(token: string): number;
}

/** @param json the parsed `tokenizer.json` */
export function createTokenizer(json: object, source: string): TextTokenizer {
  let full: LibraryTokenizer;
  let plain: LibraryTokenizer;
  try {
    full = new HubTokenizer(json, {});
    // Without added tokens nothing in a user's text can turn into a control token.
    plain = new HubTokenizer({ ...json, added_tokens: [] }, {});
  } catch (cause) {
    throw new ModelError({
      message: `${source} is not a usable tokenizer.`,
      cause,
      fields: { source },
    });
  }
  return {
    encode: (text) => (text === "" ? [] : plain.encode(text, { add_special_tokens: false }).ids),
    decode: (ids) =>
      ids.length === 0 ? "" : full.decode(Array.from(ids), { skip_special_tokens: false }),
    special(token) {
      const id = full.token_to_id(token);
      if (id === undefined) {
        throw new ModelError({
          message: `${source} has no token "${token}".`,
          fields: { source, token },
        });
      }
      return id;
    },
  };
}
