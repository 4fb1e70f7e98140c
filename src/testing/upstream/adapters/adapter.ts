/** How one kind of inference server is asked and answers. Knows no sockets. */
import type { Drawn } from "../sampled.ts";

/** A call, without its wire format. */
export interface UpstreamAsk {
  readonly prompt: Int32Array;
  readonly n: number;
  /** Absent where the caller left it out. */
  readonly maxTokens?: number;
  readonly stops: readonly string[];
  readonly stream: boolean;
  readonly body: WireBody;
}

export type WireBody = Readonly<Record<string, unknown>>;

export interface UpstreamDialect {
  /** What a GET at this path answers; undefined for none. */
  probe(path: string, model: string, contextLength: number): object | undefined;
  /** What the server does not do, as it says so; undefined when it does. */
  refuse?(ask: UpstreamAsk): { readonly status: number; readonly body: object } | undefined;
  /** Null where calls do not go to this path. */
  read(path: string, body: WireBody): UpstreamAsk | null;
  whole(ask: UpstreamAsk, drawn: readonly Drawn[], model: string): unknown;
  /** Without the end of the stream. */
  events(ask: UpstreamAsk, drawn: readonly Drawn[], model: string): readonly object[];
  /** What is sent behind the last event. */
  readonly end: string;
}
