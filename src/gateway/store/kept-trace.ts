/**
 * A trace as it is kept in memory. Large fields of a request, such as a schema, are kept as text: the collector
 * of garbage visits each object of a graph again and again while all calls wait, and a text is one.
 */
import type { JsonObject } from "../../core/message.ts";
import type { Trace } from "../../core/trace.ts";

export type KeptTrace = Omit<Trace, "serverFields"> & {
  readonly serverFields?: JsonObject | string;
};

/** Characters of JSON from which on fields are kept as text. */
const largeChars = 1000;

export function keptTrace(trace: Trace): KeptTrace {
  if (trace.serverFields === undefined) return trace;
  const text = JSON.stringify(trace.serverFields);
  return text.length < largeChars ? trace : { ...trace, serverFields: text };
}

export function readTrace(kept: KeptTrace): Trace {
  const { serverFields } = kept;
  return typeof serverFields === "string"
    ? { ...kept, serverFields: JSON.parse(serverFields) as JsonObject }
    : (kept as Trace);
}
