/** A request to a served model. */

/** What of it matters here. */
export interface ModelRequest {
  /** What follows `/v1/`. */
  readonly path: string;
  readonly body: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}
