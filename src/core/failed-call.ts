/** Model calls of a rollout that its agent got no response to. */

/** A call that ended in an error, or was cut, and that the agent did not repeat with success. */
export interface FailedCall {
  /** What its client was told, or would have been told. */
  readonly message: string;
  /** Of the error, also where a stream had begun; null where the client ended the call. */
  readonly status: number | null;
}

/** Null where there is none, apart from those that the rollout's own error already tells. */
export function describeFailedCalls(
  failed: readonly FailedCall[] = [],
  error?: { readonly message: string },
): string | null {
  const calls = failed.filter(({ message }) => error?.message.includes(message) !== true);
  const [first] = calls;
  if (first === undefined) return null;
  const count = calls.length === 1 ? "A model call" : `${calls.length} model calls`;
  return `${count} failed and had no successful repetition: ${first.message}`;
}
