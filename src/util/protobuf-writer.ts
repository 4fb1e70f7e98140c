/**
 * The write half of the protobuf wire format, as far as ONNX models and Tinker's messages need it. A
 * library would bring a schema compiler and half a megabyte for these lines.
 * https://protobuf.dev/programming-guides/encoding/
 */
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const text = new TextEncoder();

/** A message under construction, in pieces: large arrays are copied once, at the end. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  #push(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  #header(field: number, wireType: number, value?: number): this {
    const bytes: number[] = [];
    pushVarint(bytes, field * 8 + wireType);
    if (value !== undefined) pushVarint(bytes, value);
    return this.#push(Uint8Array.from(bytes));
  }

  /** int32, int64, uint64, bool or enum: a safe integer; negative ones take ten bytes. */
  integer(field: number, value: number): this {
    return this.#header(field, wireTypes.varint, value);
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    return this.#header(field, wireTypes.fixed32).#push(bytes);
  }

  double(field: number, value: number): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    return this.#header(field, wireTypes.fixed64).#push(bytes);
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#header(field, wireTypes.bytes, value.length).#push(value);
  }

  string(field: number, value: string): this {
    return this.bytes(field, text.encode(value));
  }

  message(field: number, inner: ProtoWriter): this {
    this.#header(field, wireTypes.bytes, inner.#length);
    for (const part of inner.#parts) this.#push(part);
    return this;
  }

  /** Integers in one field, as proto3 packs repeated numbers; nothing when there are none. */
  packed(field: number, values: readonly number[]): this {
    if (values.length === 0) return this;
    const bytes: number[] = [];
    for (const value of values) pushVarint(bytes, value);
    return this.bytes(field, Uint8Array.from(bytes));
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

/** Arithmetic instead of shifts keeps all 53 bits. */
function pushVarint(bytes: number[], value: number): void {
  if (value < 0) {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    return;
  }
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
}
