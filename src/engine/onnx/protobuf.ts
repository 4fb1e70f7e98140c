/**
 * The write half of the protobuf wire format, as much of it as ONNX needs: varints, 32-bit floats,
 * strings and nested messages. A library would bring a schema compiler and half a megabyte for these
 * sixty lines.
 *
 * https://protobuf.dev/programming-guides/encoding/
 */

/** A message under construction: field after field, in any order. */
export class MessageWriter {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  #push(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
  }

  #tag(field: number, wireType: 0 | 2 | 5): void {
    this.#push(varint(field * 8 + wireType));
  }

  /** int32, int64, uint64, bool or enum; negative numbers take ten bytes, as the format demands. */
  integer(field: number, value: number): this {
    this.#tag(field, 0);
    this.#push(value >= 0 ? varint(value) : negativeVarint(value));
    return this;
  }

  float(field: number, value: number): this {
    this.#tag(field, 5);
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.#push(bytes);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, 2);
    this.#push(varint(value.length));
    this.#push(value);
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, value: MessageWriter): this {
    this.#tag(field, 2);
    this.#push(varint(value.#length));
    for (const chunk of value.#chunks) this.#push(chunk);
    return this;
  }

  finish(): Uint8Array {
    const result = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      result.set(chunk, offset);
      offset += chunk.length;
    }
    return result;
  }
}

/** `value` is a non-negative safe integer; arithmetic instead of shifts keeps all 53 bits. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function negativeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
