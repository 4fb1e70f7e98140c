/**
 * The read half of the protobuf wire format, as far as Tinker's messages need it: varints, doubles and
 * length-delimited fields; `util/protobuf-writer.ts` is the other half.
 * https://protobuf.dev/programming-guides/encoding/
 */
import { TinkerWireError } from "../tinker-error.ts";

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const plain = new TextDecoder("utf-8", { fatal: true });

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
