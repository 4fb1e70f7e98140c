/** Between `tokenizer-thread.ts` and `tokenizer-worker.ts`. */

/** First the tokenizer, then texts; each gets its response before the next is sent. */
export type ToTokenizer =
  | { readonly json: object; readonly source: string }
  | { readonly text: string };

export type FromTokenizer = { readonly ids: Int32Array } | { readonly error: string };
