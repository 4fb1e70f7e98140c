/** Model calls of a rollout that its agent got no response to. */

/** A call that ended in an error, or was cut, and that the agent did not repeat with success. */
export interface FailedCall {
  /** What its client was told, or why there was nobody to tell. */
  readonly message: string;
  /** Of the error, also where a stream had begun; null where the client ended the call. */
  readonly status: number | null;
}

/** Null where there is none. */
export function describeFailedCalls(calls: readonly FailedCall[] | undefined): string | null {
  const [first] = calls ?? [];
  if (calls === undefined || first === undefined) return null;
  const count = calls.length === 1 ? "A model call" : `${calls.length} model calls`;
  return `${count} failed and had no successful repetition: ${first.message}`;
}
