/** Tinker's three large messages as protobuf (package `tinker_public`), by published field numbers. */
import type {
  Datum,
  ForwardBackwardOutput,
  ForwardBackwardRequest,
  ProvenanceSpan,
  SparseRows,
  TinkerSample,
  TinkerSampleOutput,
  TopTokens,
} from "../messages.ts";
import { ProtoWriter } from "../../util/protobuf-writer.ts";
import { readDouble, readFields, readPacked, readString } from "./protobuf-reader.ts";
import {
  bytesOf,
  densify,
  createFloatTensor,
  int64Bytes,
  readBfloat16,
  readFloat32,
  readInt32,
  readInt64,
  type FloatTensor,
  type TinkerTensor,
} from "./tensor.ts";
import { TinkerWireError } from "../tinker-error.ts";

export const protoMediaType = "application/x-protobuf";

const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const;
const emptyCell = { token: 0, logprob: -99999 };

type Entries<T> = [string, T][];

/** A map's entry: key 1, value 2. */
function readEntry<T>(bytes: Uint8Array, read: (value: Uint8Array) => T, fallback: T): [string, T] {
  let key = "";
  let result = fallback;
  for (const field of readFields(bytes)) {
    if (field.number === 1) key = readString(field.bytes);
    else if (field.number === 2) result = read(field.bytes);
  }
  return [key, result];
}

function tensorMessage(tensor: TinkerTensor): ProtoWriter {
  return new ProtoWriter()
    .bytes(1, tensor.dtype === "int64" ? int64Bytes(tensor.data) : bytesOf(tensor.data))
    .integer(3, dtypes[tensor.dtype])
    .packed(4, tensor.shape);
}

/** An entry of a map from names. */
const named = (name: string): ProtoWriter => new ProtoWriter().string(1, name);

function decodeArray(bytes: Uint8Array, dtype: number): Float32Array | Int32Array {
  if (dtype === dtypes.float32) return readFloat32(bytes);
  if (dtype === dtypes.int64) return readInt64(bytes);
  if (dtype === dtypes.int32) return readInt32(bytes);
  if (dtype === dtypes.bfloat16) return readBfloat16(bytes);
  throw new TinkerWireError(`A tensor has the unknown type ${dtype}.`, { dtype });
}

function asTensor(data: Float32Array | Int32Array, shape: readonly number[]): TinkerTensor {
  return data instanceof Float32Array
    ? { dtype: "float32", data, shape }
    : { dtype: "int64", data, shape };
}

export function decodeTensor(bytes: Uint8Array): TinkerTensor {
  let dtype = 0;
  let dense: Uint8Array = new Uint8Array(0);
  let sparse: Uint8Array | null = null;
  let shape: number[] | null = null;
  for (const field of readFields(bytes)) {
    if (field.number === 1) dense = field.bytes;
    else if (field.number === 2) sparse = field.bytes;
    else if (field.number === 3) dtype = field.value;
    else if (field.number === 4)
      shape = [
        ...(shape ?? []),
        ...(field.bytes.length > 0 ? readPacked(field.bytes) : [field.value]),
      ];
  }
  if (sparse === null) {
    const data = decodeArray(dense, dtype);
    return asTensor(data, shape ?? [data.length]);
  }
  const parts = new Map([...readFields(sparse)].map((field) => [field.number, field.bytes]));
  const part = (number: number): Uint8Array => parts.get(number) ?? new Uint8Array(0);
  const values = asTensor(decodeArray(part(1), dtype), shape ?? []);
  return densify(values, readInt64(part(2)), readInt64(part(3)));
}

function spanMessage({ isSampled, sequenceId, offset, length }: ProvenanceSpan): ProtoWriter {
  const span = new ProtoWriter().string(1, sequenceId).integer(2, offset).integer(3, length);
  return new ProtoWriter().message(isSampled ? 2 : 1, span);
}

function decodeSpan(bytes: Uint8Array): ProvenanceSpan {
  const [arm] = readFields(bytes);
  const fields = new Map(
    [...readFields(arm?.bytes ?? new Uint8Array(0))].map((f) => [f.number, f]),
  );
  return {
    isSampled: arm?.number === 2,
    sequenceId: readString(fields.get(1)?.bytes ?? new Uint8Array(0)),
    offset: fields.get(2)?.value ?? 0,
    length: fields.get(3)?.value ?? 0,
  };
}

function datumMessage({ tokens, lossInputs, targetSpans = [] }: Datum): ProtoWriter {
  const encoded = new ProtoWriter().bytes(1, bytesOf(tokens));
  const datum = new ProtoWriter().message(1, new ProtoWriter().message(1, encoded));
  for (const [name, tensor] of Object.entries(lossInputs))
    datum.message(2, named(name).message(2, tensorMessage(tensor)));
  for (const span of targetSpans) datum.message(4, spanMessage(span));
  return datum;
}

function decodeDatum(bytes: Uint8Array): Datum {
  const chunks: Int32Array[] = [];
  const lossInputs: Entries<TinkerTensor> = [];
  const targetSpans: ProvenanceSpan[] = [];
  for (const field of readFields(bytes)) {
    if (field.number === 4) targetSpans.push(decodeSpan(field.bytes));
    else if (field.number === 1) chunks.push(decodeChunk(field.bytes));
    else if (field.number === 2)
      lossInputs.push(readEntry(field.bytes, decodeTensor, createFloatTensor(new Float32Array(0))));
  }
  return {
    tokens: concatenate(chunks),
    lossInputs: Object.fromEntries(lossInputs),
    ...(targetSpans.length === 0 ? {} : { targetSpans }),
  };
}

function decodeChunk(bytes: Uint8Array): Int32Array {
  for (const field of readFields(bytes)) {
    if (field.number !== 1)
      throw new TinkerWireError("Only text can be given to a model here, no images or audio.");
    for (const inner of readFields(field.bytes))
      if (inner.number === 1) return readInt32(inner.bytes);
  }
  return new Int32Array(0);
}

export function concatenate(chunks: readonly Int32Array[]): Int32Array {
  if (chunks.length === 1) return chunks[0]!;
  const result = new Int32Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    result.set(chunk, offset);
    offset += chunk.length;
  }
  return result;
}

export function encodeForwardBackwardRequest(
  request: ForwardBackwardRequest,
): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  writer.string(1, request.modelId);
  if (request.seqId !== null) writer.integer(2, request.seqId);
  for (const datum of request.data) writer.message(3, datumMessage(datum));
  writer.string(4, request.lossFn);
  for (const [name, value] of Object.entries(request.lossConfig))
    writer.message(5, named(name).double(2, value));
  if (request.forwardOnly) writer.integer(6, 1);
  return writer.finish();
}

/** Newer clients send loss options twice: as numbers, and as values that may be text. */
function decodeOption(bytes: Uint8Array): number {
  for (const field of readFields(bytes)) {
    if (field.number === 1) return readDouble(field.bytes);
    throw new TinkerWireError(`A loss option is "${readString(field.bytes)}", not a number.`);
  }
  return 0;
}

export function decodeForwardBackwardRequest(bytes: Uint8Array): ForwardBackwardRequest {
  let modelId = "";
  let seqId: number | null = null;
  let lossFn = "";
  let forwardOnly = false;
  const data: Datum[] = [];
  const lossConfig: Entries<number> = [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) modelId = readString(field.bytes);
    else if (field.number === 2) seqId = field.value === 0 ? null : field.value;
    else if (field.number === 3) data.push(decodeDatum(field.bytes));
    else if (field.number === 4) lossFn = readString(field.bytes);
    else if (field.number === 5) lossConfig.push(readEntry(field.bytes, readDouble, 0));
    else if (field.number === 6) forwardOnly = field.value !== 0;
    else if (field.number === 7) lossConfig.push(readEntry(field.bytes, decodeOption, 0));
  }
  return { modelId, seqId, data, lossFn, lossConfig: Object.fromEntries(lossConfig), forwardOnly };
}

function int64List(values: readonly number[]): Uint8Array {
  const result = new BigInt64Array(values.length);
  for (const [i, value] of values.entries()) result[i] = BigInt(value);
  return new Uint8Array(result.buffer);
}

/** One tensor of every datum, one after the other, with the byte where each begins. */
function batchedTensorMessage(tensors: readonly TinkerTensor[]): ProtoWriter {
  const pieces = tensors.map((tensor) =>
    tensor.dtype === "int64" ? int64Bytes(tensor.data) : bytesOf(tensor.data),
  );
  const offsets = [0];
  for (const piece of pieces) offsets.push(offsets.at(-1)! + piece.length);
  const data = new Uint8Array(offsets.at(-1)!);
  for (const [i, piece] of pieces.entries()) data.set(piece, offsets[i]);
  return new ProtoWriter()
    .bytes(1, data)
    .bytes(2, int64List(offsets))
    .integer(3, dtypes[tensors[0]!.dtype])
    .packed(4, tensors[0]!.shape.slice(1));
}

function decodeBatchedTensor(bytes: Uint8Array): TinkerTensor[] {
  let data: Uint8Array = new Uint8Array(0);
  let offsets = new Int32Array(0);
  let dtype = 0;
  let trailing: number[] = [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) data = field.bytes;
    else if (field.number === 2) offsets = Int32Array.from(readInt64(field.bytes));
    else if (field.number === 3) dtype = field.value;
    else if (field.number === 4) trailing = readPacked(field.bytes);
  }
  const inner = trailing.reduce((product, size) => product * size, 1);
  return Array.from({ length: Math.max(0, offsets.length - 1) }, (_, i) => {
    const values = decodeArray(data.subarray(offsets[i], offsets[i + 1]), dtype);
    return asTensor(values, [values.length / inner, ...trailing]);
  });
}

export function encodeForwardBackwardOutput(
  output: ForwardBackwardOutput,
): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  writer.string(1, output.outputType);
  const names = Object.keys(output.outputs[0] ?? {});
  if (output.outputs.length > 0) {
    const record = new ProtoWriter();
    for (const name of names) {
      const values = batchedTensorMessage(output.outputs.map((one) => one[name]!));
      record.message(2, named(name).message(2, values));
    }
    writer.message(2, record.integer(3, output.outputs.length));
  }
  for (const [name, value] of Object.entries(output.metrics))
    writer.message(3, named(name).double(2, value));
  return writer.finish();
}

function decodeRecord(bytes: Uint8Array): Record<string, TinkerTensor>[] {
  const fields: Entries<TinkerTensor[]> = [];
  let count = 0;
  for (const field of readFields(bytes)) {
    if (field.number === 2) fields.push(readEntry(field.bytes, decodeBatchedTensor, []));
    else if (field.number === 3) count = field.value;
  }
  const length = count === 0 ? (fields[0]?.[1].length ?? 0) : count;
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(
      fields.flatMap(([name, tensors]) => (tensors[i] === undefined ? [] : [[name, tensors[i]]])),
    ),
  );
}

export function decodeForwardBackwardOutput(bytes: Uint8Array): ForwardBackwardOutput {
  let outputType = "";
  const outputs: Record<string, TinkerTensor>[] = [];
  const metrics: Entries<number> = [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) outputType = readString(field.bytes);
    else if (field.number === 2) outputs.push(...decodeRecord(field.bytes));
    else if (field.number === 3) metrics.push(readEntry(field.bytes, readDouble, 0));
  }
  return {
    outputType: outputType.slice(outputType.lastIndexOf(":") + 1),
    outputs,
    metrics: Object.fromEntries(metrics),
  };
}

function topTokensMessage(rows: readonly TopTokens[]): ProtoWriter {
  const k = Math.max(0, ...rows.map((row) => row?.length ?? 0));
  const ids = new Int32Array(rows.length * k).fill(emptyCell.token);
  const logprobs = new Float32Array(rows.length * k).fill(emptyCell.logprob);
  for (const [i, row] of rows.entries()) {
    for (const [j, [token, logprob]] of (row ?? []).entries()) {
      ids[i * k + j] = token;
      logprobs[i * k + j] = logprob;
    }
  }
  return new ProtoWriter()
    .bytes(1, bytesOf(ids))
    .bytes(2, bytesOf(logprobs))
    .integer(3, k)
    .integer(4, rows.length);
}

function decodeTopTokens(bytes: Uint8Array): TopTokens[] {
  const fields = new Map([...readFields(bytes)].map((field) => [field.number, field]));
  const ids = readInt32(fields.get(1)?.bytes ?? new Uint8Array(0));
  const logprobs = readFloat32(fields.get(2)?.bytes ?? new Uint8Array(0));
  const k = fields.get(3)?.value ?? 0;
  return Array.from({ length: fields.get(4)?.value ?? 0 }, (_, i) => {
    const row: [number, number][] = [];
    for (let j = i * k; j < (i + 1) * k && logprobs[j]! > emptyCell.logprob; j++)
      row.push([ids[j]!, logprobs[j]!]);
    return row.length === 0 ? null : row;
  });
}

function scoresMessage(scores: FloatTensor & Partial<SparseRows>): ProtoWriter {
  const { data, shape, rowStarts, columns } = scores;
  if (rowStarts === undefined || columns === undefined) return tensorMessage(scores);
  const sparse = new ProtoWriter()
    .bytes(1, bytesOf(data))
    .bytes(2, int64List(rowStarts))
    .bytes(3, int64List(columns));
  return new ProtoWriter().message(2, sparse).integer(3, dtypes.float32).packed(4, shape);
}

export function encodeSampleOutput(output: TinkerSampleOutput): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter();
  for (const { tokens, logprobs, stopReason, topTokens } of output.sequences) {
    const sequence = new ProtoWriter();
    if (stopReason === "length") sequence.integer(1, 1);
    sequence.bytes(2, bytesOf(tokens));
    if (logprobs !== null) sequence.bytes(3, bytesOf(logprobs));
    if (topTokens !== undefined) sequence.message(4, topTokensMessage(topTokens));
    writer.message(1, sequence);
  }
  if (output.promptLogprobs !== null) writer.bytes(2, bytesOf(output.promptLogprobs));
  const { topPromptTokens } = output;
  if (topPromptTokens !== null) writer.message(3, topTokensMessage(topPromptTokens));
  if (output.cacheHitTokens > 0) writer.integer(4, output.cacheHitTokens);
  const { targetPromptLogprobs: scores, promptAltTokens: others } = output;
  if (scores !== undefined) writer.message(5, scoresMessage(scores));
  if (others !== undefined)
    writer.message(
      6,
      new ProtoWriter()
        .message(1, tensorMessage(others.tokens))
        .message(2, tensorMessage(others.logprobs)),
    );
  return writer.finish();
}

function decodeSequence(bytes: Uint8Array): TinkerSample {
  const fields = new Map([...readFields(bytes)].map((field) => [field.number, field]));
  const logprobs = fields.get(3)?.bytes;
  return {
    tokens: readInt32(fields.get(2)?.bytes ?? new Uint8Array(0)),
    logprobs: logprobs === undefined ? null : readFloat32(logprobs),
    stopReason: fields.get(1)?.value === 1 ? "length" : "stop",
  };
}

export function decodeSampleOutput(bytes: Uint8Array): TinkerSampleOutput {
  const sequences: TinkerSample[] = [];
  let promptLogprobs: Float32Array | null = null;
  let topPromptTokens: TopTokens[] | null = null;
  let cacheHitTokens = 0;
  for (const field of readFields(bytes)) {
    if (field.number === 1) sequences.push(decodeSequence(field.bytes));
    else if (field.number === 2) promptLogprobs = readFloat32(field.bytes);
    else if (field.number === 3) topPromptTokens = decodeTopTokens(field.bytes);
    else if (field.number === 4) cacheHitTokens = field.value;
  }
  return { sequences, promptLogprobs, topPromptTokens, cacheHitTokens };
}
