/** Between `tokenizer-thread.ts` and `tokenizer-worker.ts`. */

/** First the tokenizer, then texts; each is answered before the next comes. */
export type ToTokenizer =
  | { readonly json: object; readonly source: string }
  | { readonly text: string };

export type FromTokenizer = { readonly ids: Int32Array } | { readonly error: string };
