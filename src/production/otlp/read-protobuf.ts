/** OTLP's protobuf encoding, by the field numbers of opentelemetry/proto/trace/v1/trace.proto. */
import {
  readDouble,
  readFields,
  readFixed64,
  readSigned,
  readString,
} from "../../util/protobuf-reader.ts";
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

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function fieldsOf(bytes: Uint8Array, number: number): readonly Uint8Array[] {
  return [...readFields(bytes)].filter((field) => field.number === number).map((one) => one.bytes);
}

function valueOf(bytes: Uint8Array, depth: number): AnyValue {
  if (depth > maxDepth) throw new Error("an attribute is nested too deeply");
  for (const { number, value, bytes: own } of readFields(bytes)) {
    if (number === 1) return readString(own);
    if (number === 2) return value !== 0;
    if (number === 3) return readSigned(own);
    if (number === 4) return readDouble(own);
    if (number === 5) return fieldsOf(own, 1).map((one) => valueOf(one, depth + 1));
    if (number === 6) return attributesOf(fieldsOf(own, 1), depth + 1);
    if (number === 7) return Buffer.from(own).toString("base64");
  }
  return null;
}

function attributesOf(entries: readonly Uint8Array[], depth = 0): Attributes {
  const result: Record<string, AnyValue> = {};
  for (const entry of entries) {
    let key = "";
    let value: AnyValue = null;
    for (const { number, bytes } of readFields(entry)) {
      if (number === 1) key = readString(bytes);
      else if (number === 2) value = valueOf(bytes, depth);
    }
    Object.defineProperty(result, key, { value, enumerable: true, configurable: true });
  }
  return result;
}

function eventOf(bytes: Uint8Array): OtlpEvent {
  const fields = [...readFields(bytes)];
  const name = fields.find(({ number }) => number === 2);
  return {
    name: name === undefined ? "" : readString(name.bytes),
    attributes: attributesOf(fields.filter(({ number }) => number === 3).map((one) => one.bytes)),
    dropped: fields.find(({ number }) => number === 4)?.value ?? 0,
  };
}

const errorCode = 2;

function errorOf(status: Uint8Array): string | null {
  let message = "";
  let code = 0;
  for (const field of readFields(status)) {
    if (field.number === 2) message = readString(field.bytes);
    else if (field.number === 3) code = field.value;
  }
  return code === errorCode ? message : null;
}

function spanOf(bytes: Uint8Array, resource: Attributes): OtlpSpan {
  const span = { traceId: "", spanId: "", parentSpanId: "", name: "", startMs: 0, endMs: 0 };
  const attributes: Uint8Array[] = [];
  const events: OtlpEvent[] = [];
  let error: string | null = null;
  let dropped = 0;
  for (const field of readFields(bytes)) {
    const { number, bytes: own } = field;
    if (number === 1) span.traceId = hex(own);
    else if (number === 2) span.spanId = hex(own);
    else if (number === 4) span.parentSpanId = hex(own);
    else if (number === 5) span.name = readString(own);
    else if (number === 7) span.startMs = milliseconds(readFixed64(own));
    else if (number === 8) span.endMs = milliseconds(readFixed64(own));
    else if (number === 9) attributes.push(own);
    else if (number === 10 || number === 12) dropped += field.value;
    else if (number === 11) events.push(eventOf(own));
    else if (number === 15) error = errorOf(own);
  }
  const parentSpanId = span.parentSpanId === "" ? null : span.parentSpanId;
  return checkSpan({
    ...span,
    parentSpanId,
    attributes: attributesOf(attributes),
    events,
    error,
    resource,
    dropped,
  });
}

/** @throws Error for what is no request. */
export function readProtobufRequest(bytes: Uint8Array, maxSpans: number): ReadRequest {
  const spans: OtlpSpan[] = [];
  const rejected: string[] = [];
  for (const resourceSpans of fieldsOf(bytes, 1)) {
    const [about] = fieldsOf(resourceSpans, 1);
    const resource = about === undefined ? {} : attributesOf(fieldsOf(about, 1));
    for (const given of fieldsOf(resourceSpans, 2).flatMap((scope) => fieldsOf(scope, 2))) {
      try {
        if (spans.length >= maxSpans) throw new Error(`${maxSpans} spans are the limit`);
        spans.push(spanOf(given, resource));
      } catch (error) {
        rejected.push((error as Error).message);
      }
    }
  }
  return { spans, rejected };
}
