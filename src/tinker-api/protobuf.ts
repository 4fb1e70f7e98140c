/**
 * The protobuf wire format, as far as Tinker's messages need it: varints, doubles and length-delimited
 * fields. Knows no message. https://protobuf.dev/programming-guides/encoding/
 */
import { TinkerWireError } from "./tinker-error.ts";

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const text = new TextEncoder();
const plain = new TextDecoder("utf-8", { fatal: true });

/** Collects a message in pieces, so that large arrays are copied once, at the end. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }

  #header(field: number, wireType: number, value: number): void {
    const bytes: number[] = [];
    pushVarint(bytes, field * 8 + wireType);
    pushVarint(bytes, value);
    this.#push(Uint8Array.from(bytes));
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(field: number, value: number): void {
    this.#header(field, wireTypes.varint, value);
  }

  double(field: number, value: number): void {
    const bytes = new Uint8Array(9);
    bytes[0] = field * 8 + wireTypes.fixed64;
    new DataView(bytes.buffer).setFloat64(1, value, true);
    this.#push(bytes);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#header(field, wireTypes.bytes, value.length);
    this.#push(value);
  }

  string(field: number, value: string): void {
    this.bytes(field, text.encode(value));
  }

  message(field: number, write: (writer: ProtoWriter) => void): void {
    const inner = new ProtoWriter();
    write(inner);
    this.#header(field, wireTypes.bytes, inner.#length);
    for (const part of inner.#parts) this.#push(part);
  }

  /** Whole numbers in one field, as proto3 packs repeated numbers; nothing when there are none. */
  packed(field: number, values: readonly number[]): void {
    if (values.length === 0) return;
    const bytes: number[] = [];
    for (const value of values) pushVarint(bytes, value);
    this.bytes(field, Uint8Array.from(bytes));
  }

  finish(): Uint8Array<ArrayBuffer> {
    // Every byte is written below, so none needs to be cleared.
    const result = new Uint8Array(Buffer.allocUnsafeSlow(this.#length).buffer);
    let offset = 0;
    for (const part of this.#parts) {
      result.set(part, offset);
      offset += part.length;
    }
    return result;
  }
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

/** One field of a message. Which of its readings makes sense is for the message to know. */
export interface ProtoField {
  readonly number: number;
  /** Varint, or the length of a length-delimited field. */
  readonly value: number;
  /** Content of a length-delimited field, or the raw bytes of a fixed one: a view, not a copy. */
  readonly bytes: Uint8Array;
}

/** @throws TinkerWireError when the bytes are no message. */
export function* readFields(bytes: Uint8Array): Generator<ProtoField> {
  const cursor = { at: 0 };
  while (cursor.at < bytes.length) {
    const tag = readVarint(bytes, cursor);
    const wireType = tag % 8;
    const value =
      wireType === wireTypes.varint || wireType === wireTypes.bytes ? readVarint(bytes, cursor) : 0;
    const length =
      wireType === wireTypes.bytes
        ? value
        : wireType === wireTypes.fixed64
          ? 8
          : wireType === wireTypes.fixed32
            ? 4
            : 0;
    if (cursor.at + length > bytes.length || ![0, 1, 2, 5].includes(wireType))
      throw new TinkerWireError("These bytes are no protobuf message.");
    yield {
      number: Math.floor(tag / 8),
      value,
      bytes: bytes.subarray(cursor.at, cursor.at + length),
    };
    cursor.at += length;
  }
}

function readVarint(bytes: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  for (let shift = 1; shift < 2 ** 70; shift *= 0x80) {
    const byte = bytes[cursor.at++];
    if (byte === undefined) break;
    value += (byte % 0x80) * shift;
    if (byte < 0x80) return value;
  }
  throw new TinkerWireError("A number in these protobuf bytes does not end.");
}

export function readPacked(bytes: Uint8Array): number[] {
  const cursor = { at: 0 };
  const values: number[] = [];
  while (cursor.at < bytes.length) values.push(readVarint(bytes, cursor));
  return values;
}

export function readString(bytes: Uint8Array): string {
  return plain.decode(bytes);
}

export function readDouble(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
}
