/** OTLP's JSON encoding: `ExportTraceServiceRequest`, or what a collector's file exporter writes. */
import { listOf, isJsonObject, type JsonFields } from "../../util/json-object.ts";
import {
  type AnyValue,
  type Attributes,
  checkSpan,
  maxDepth,
  milliseconds,
  type OtlpEvent,
  type OtlpSpan,
  type ReadRequest,
} from "./otlp-span.ts";

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function valueOf(given: JsonFields, depth: number): AnyValue {
  if (depth > maxDepth) throw new Error("an attribute is nested too deeply");
  if (given["stringValue"] !== undefined) return given["stringValue"];
  if (given["boolValue"] !== undefined) return given["boolValue"];
  const number = given["intValue"] ?? given["doubleValue"];
  if (number !== undefined) return Number(number);
  const list = given["arrayValue"];
  if (isJsonObject(list)) return listOf(list["values"]).map((one) => valueOf(one, depth + 1));
  const map = given["kvlistValue"];
  if (isJsonObject(map)) return attributesOf(map["values"], depth + 1);
  return given["bytesValue"] ?? null;
}

function attributesOf(given: unknown, depth = 0): Attributes {
  const entries = listOf(given).flatMap(({ key, value }) =>
    typeof key === "string" && isJsonObject(value) ? [[key, valueOf(value, depth)] as const] : [],
  );
  return Object.fromEntries(entries);
}

const countOf = (value: unknown): number => Number(value ?? 0) || 0;

const eventOf = ({ name, attributes, droppedAttributesCount }: JsonFields): OtlpEvent => ({
  name: textOf(name),
  attributes: attributesOf(attributes),
  dropped: countOf(droppedAttributesCount),
});

const errorCodes: ReadonlySet<unknown> = new Set([2, "STATUS_CODE_ERROR"]);

function spanOf(given: JsonFields, resource: Attributes): OtlpSpan {
  const { traceId, spanId, parentSpanId, status, startTimeUnixNano, endTimeUnixNano } = given;
  const parent = textOf(parentSpanId).toLowerCase();
  const failed = isJsonObject(status) && errorCodes.has(status["code"]);
  return checkSpan({
    traceId: textOf(traceId).toLowerCase(),
    spanId: textOf(spanId).toLowerCase(),
    parentSpanId: parent === "" ? null : parent,
    name: textOf(given["name"]),
    startMs: milliseconds(startTimeUnixNano),
    endMs: milliseconds(endTimeUnixNano ?? startTimeUnixNano),
    attributes: attributesOf(given["attributes"]),
    events: listOf(given["events"]).map(eventOf),
    error: failed ? textOf(status["message"]) : null,
    resource,
    dropped: countOf(given["droppedAttributesCount"]) + countOf(given["droppedEventsCount"]),
  });
}

/** @throws Error for what is no request. */
export function readJsonRequest(value: unknown, maxSpans: number): ReadRequest {
  if (!isJsonObject(value) || !Array.isArray(value["resourceSpans"]))
    throw new Error("it has no resourceSpans");
  const spans: OtlpSpan[] = [];
  const rejected: string[] = [];
  for (const { resource, scopeSpans } of listOf(value["resourceSpans"])) {
    const about = isJsonObject(resource) ? attributesOf(resource["attributes"]) : {};
    for (const given of listOf(scopeSpans).flatMap((scope) => listOf(scope["spans"]))) {
      try {
        if (spans.length >= maxSpans) throw new Error(`${maxSpans} spans are the limit`);
        spans.push(spanOf(given, about));
      } catch (error) {
        rejected.push((error as Error).message);
      }
    }
  }
  return { spans, rejected };
}
