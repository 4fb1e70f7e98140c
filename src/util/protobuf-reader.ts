/**
 * The read half of the protobuf wire format: varints, fixed numbers and length-delimited fields;
 * `protobuf-writer.ts` is the other half. https://protobuf.dev/programming-guides/encoding/
 */

/** These bytes are no message. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const plain = new TextDecoder("utf-8", { fatal: true });

/** One field of a message. Which of its readings makes sense is for the message to know. */
export interface ProtoField {
  readonly number: number;
  /** Varint, or the length of a length-delimited field. */
  readonly value: number;
  /** Content of a length-delimited field, or the raw bytes of a number: a view, not a copy. */
  readonly bytes: Uint8Array;
}

/** @throws ProtobufError when the bytes are no message. */
export function* readFields(bytes: Uint8Array): Generator<ProtoField> {
  const cursor = { at: 0 };
  while (cursor.at < bytes.length) {
    const tag = readVarint(bytes, cursor);
    const wireType = tag % 8;
    const begin = cursor.at;
    const value =
      wireType === wireTypes.varint || wireType === wireTypes.bytes ? readVarint(bytes, cursor) : 0;
    const start = wireType === wireTypes.varint ? begin : cursor.at;
    const end = wireType === wireTypes.varint ? cursor.at : start + lengthOf(wireType, value);
    if (end > bytes.length) throw new ProtobufError("These bytes are no protobuf message.");
    yield { number: Math.floor(tag / 8), value, bytes: bytes.subarray(start, end) };
    cursor.at = end;
  }
}

function lengthOf(wireType: number, value: number): number {
  if (wireType === wireTypes.bytes) return value;
  if (wireType === wireTypes.fixed64) return 8;
  if (wireType === wireTypes.fixed32) return 4;
  throw new ProtobufError("These bytes are no protobuf message.");
}

function readVarint(bytes: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  for (let shift = 1; shift < 2 ** 70; shift *= 0x80) {
    const byte = bytes[cursor.at++];
    if (byte === undefined) break;
    value += (byte % 0x80) * shift;
    if (byte < 0x80) return value;
  }
  throw new ProtobufError("A number in these protobuf bytes does not end.");
}

/** The varint in `bytes` as a signed number of 64 bits; beyond 53 bits it is rounded. */
export function readSigned(bytes: Uint8Array): number {
  let value = 0n;
  for (const [i, byte] of bytes.entries()) value |= BigInt(byte & 0x7f) << BigInt(7 * i);
  return Number(BigInt.asIntN(64, value));
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

export function readFixed64(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}
