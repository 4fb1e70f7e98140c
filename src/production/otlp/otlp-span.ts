/** A span as OTLP has it, in either of its encodings, with plain attributes. */

/** A text, a number, a list or a map: what OTLP calls AnyValue. */
export type AnyValue = unknown;

export type Attributes = Readonly<Record<string, AnyValue>>;

export interface OtlpEvent {
  readonly name: string;
  readonly attributes: Attributes;
  /** Attributes that a limit left out. */
  readonly dropped: number;
}

export interface OtlpSpan {
  /** In hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly OtlpEvent[];
  /** The status's message where it is an error; "" where it has none. */
  readonly error: string | null;
  /** Attributes of the program. */
  readonly resource: Attributes;
  /** Attributes and events that a limit of the program's telemetry left out. */
  readonly dropped: number;
}

/** What of a request could be read. */
export interface ReadRequest {
  readonly spans: readonly OtlpSpan[];
  /** Why spans are missing, one reason each. */
  readonly rejected: readonly string[];
}

/** Attributes are nested at most this deep: a message in it is far below. */
export const maxDepth = 32;

/** @throws Error with the reason why it is none. */
export function checkSpan(span: OtlpSpan): OtlpSpan {
  if (!/^(?!0+$)[\da-f]{32}$/u.test(span.traceId)) throw new Error("a span has no valid trace id");
  if (!/^(?!0+$)[\da-f]{16}$/u.test(span.spanId)) throw new Error("a span has no valid id");
  return span;
}

/** In whole microseconds: programs add durations as floating-point numbers. 0 for what is no time. */
export function milliseconds(nanoseconds: unknown): number {
  const value = Math.round(Number(nanoseconds) / 1000) / 1000;
  return Number.isFinite(value) ? value : 0;
}
