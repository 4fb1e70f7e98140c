/**
 * Which token sequence begins with which, id by id. The one comparison behind "this turn continues that
 * one": prompts that extend an earlier call, choices that the agent used, steps merged into a row.
 */

type Ids = ArrayLike<number>;

/** How many leading ids of `part` equal those of `whole` from `offset` on; `offset` is at most its length. */
export function commonPrefix(part: Ids, whole: Ids, offset = 0): number {
  const length = Math.min(part.length, whole.length - offset);
  for (let i = 0; i < length; i++) if (part[i] !== whole[offset + i]) return i;
  return length;
}

/** Whether `tokens` begin with all of `prefix`. */
export function hasPrefix(tokens: Ids, prefix: Ids): boolean {
  return commonPrefix(prefix, tokens) === prefix.length;
}

/** The tokens of one call. */
interface Call {
  readonly promptIds: Int32Array;
  readonly responseIds: Int32Array;
}

/** How many leading ids of `prompt` equal those of the call's prompt and response. */
export function commonWithCall(prompt: Ids, { promptIds, responseIds }: Call): number {
  const shared = commonPrefix(promptIds, prompt);
  return shared < promptIds.length ? shared : shared + commonPrefix(responseIds, prompt, shared);
}

/** Whether `prompt` begins with the prompt and response of `call`, so that its turn continues the call. */
export function continuesCall(prompt: Ids, call: Call): boolean {
  const { promptIds, responseIds } = call;
  const length = promptIds.length + responseIds.length;
  if (length > prompt.length) return false;
  // Conversations that begin with the same long instructions differ at the end of the call already.
  if (responseIds.length > 0 && prompt[length - 1] !== responseIds.at(-1)) return false;
  return commonWithCall(prompt, call) === length;
}

/** One after the other. */
export function joinTokens(before: Ids, after: Ids): Int32Array<ArrayBuffer> {
  const all = new Int32Array(before.length + after.length);
  all.set(before);
  all.set(after, before.length);
  return all;
}
