/**
 * Episodes as spans of OpenTelemetry's GenAI conventions, in OTLP's JSON: one `resourceSpans` document for each
 * episode, which a collector's `/v1/traces` takes. The spans are those of the OpenTelemetry tracker.
 */
import { createHash } from "node:crypto";
import type { Episode } from "../../core/trajectory.ts";
import type { Trace } from "../../core/trace.ts";
import { callAttributes, episodeAttributes } from "../../trackers/open-telemetry/call-spans.ts";

const value = (given: unknown): object => {
  if (typeof given === "boolean") return { boolValue: given };
  if (typeof given === "number") {
    return Number.isInteger(given) ? { intValue: String(given) } : { doubleValue: given };
  }
  if (Array.isArray(given)) return { arrayValue: { values: given.map(value) } };
  return { stringValue: String(given) };
};

const attributes = (given: Readonly<Record<string, unknown>>): object[] =>
  Object.entries(given).map(([key, one]) => ({ key, value: value(one) }));

/** The same episode always gets the same ids. */
const idOf = (text: string, bytes: number): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 2 * bytes);

const nanoseconds = (milliseconds: number): string =>
  String(BigInt(Math.round(milliseconds * 1000)) * 1000n);

const clientKind = 3;
const internalKind = 1;
const errorCode = 2;

/** The document of one episode. */
export function otelDocument(episode: Episode, version: string): object {
  const calls = episode.trajectories.flatMap(({ steps }) => steps.map(({ trace }) => trace));
  const traceId = idOf(episode.id, 16);
  const root = idOf(`${episode.id}/root`, 8);
  const start = Math.min(...calls.map(({ startedAt }) => startedAt));
  const end = Math.max(...calls.map(({ finishedAt }) => finishedAt));
  const span = (name: string, parent: string | null, from: number, to: number, kind: number) => ({
    traceId,
    ...(parent === null ? {} : { parentSpanId: parent }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(from),
    endTimeUnixNano: nanoseconds(Math.max(from, to)),
  });
  const callSpan = (call: Trace): object => ({
    ...span(`chat ${call.model}`, root, call.startedAt, call.finishedAt, clientKind),
    spanId: idOf(call.id, 8),
    attributes: attributes(callAttributes(call, true)),
  });
  const names = episode.trajectories.map(({ name }) => name).join(" ");
  const agent = {
    ...span(`invoke_agent ${names}`.trim(), null, start, end, internalKind),
    spanId: root,
    attributes: attributes(episodeAttributes(episode)),
    ...(episode.error === undefined
      ? {}
      : { status: { code: errorCode, message: episode.error.message } }),
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": "agent-trainer" }) },
        scopeSpans: [
          { scope: { name: "agent-trainer", version }, spans: [agent, ...calls.map(callSpan)] },
        ],
      },
    ],
  };
}
