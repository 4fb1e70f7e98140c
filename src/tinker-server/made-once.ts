/** Requests that make something: one that arrives again, since a response was lost, makes nothing new. */
import { createHash } from "node:crypto";
import { RequestError } from "./request-error.ts";

/** Equal for equal requests. */
export function fingerprintOf(kind: string, body: string | Uint8Array): string {
  return createHash("sha256").update(kind).update("\0").update(body).digest("base64");
}

export class MadeOnce {
  /** By what is made. */
  readonly #made = new Map<string, { readonly fingerprint: string; readonly future: string }>();

  /** The same key with the same fingerprint is the same request. @throws RequestError 409 */
  start(key: string, fingerprint: string, make: () => string): string {
    const before = this.#made.get(key);
    if (before?.fingerprint === fingerprint) return before.future;
    if (before !== undefined)
      throw new RequestError(409, `The sequence number of ${key} was used for something else.`);
    const future = make();
    this.#made.set(key, { fingerprint, future });
    return future;
  }

  forget(isForgotten: (key: string) => boolean): void {
    for (const key of this.#made.keys()) if (isForgotten(key)) this.#made.delete(key);
  }
}
