/** Requests and responses of one kind of inference server. Knows no sockets. */
import type { Sampled } from "../sampled.ts";

/** A call, without its wire format. */
export interface UpstreamRequest {
  readonly prompt: Int32Array;
  readonly n: number;
  /** Absent where the caller left it out. */
  readonly maxTokens?: number;
  readonly stops: readonly string[];
  readonly stream: boolean;
  readonly body: WireBody;
}

export type WireBody = Readonly<Record<string, unknown>>;

export interface UpstreamAdapter {
  /** The response to a GET of this path; undefined for none. */
  probe(path: string, model: string, contextLength: number): object | undefined;
  /** What the server does not do, as it says so; undefined when it does. */
  refuse?(request: UpstreamRequest): { readonly status: number; readonly body: object } | undefined;
  /** Null where calls do not go to this path. */
  read(path: string, body: WireBody): UpstreamRequest | null;
  whole(request: UpstreamRequest, sampled: readonly Sampled[], model: string): unknown;
  /** Without the end of the stream. */
  events(request: UpstreamRequest, sampled: readonly Sampled[], model: string): readonly object[];
  /** What is sent behind the last event. */
  readonly end: string;
}
