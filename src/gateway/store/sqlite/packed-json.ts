/** JSON in few bytes. The first byte says how the rest was packed. */
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateRawSync,
  inflateRawSync,
} from "node:zlib";

const plain = 0;
const deflated = 1;
const brotli = 2;

/** Below this, packing costs more time than it saves space. */
const minPacked = 64;
/** From here on, Brotli is faster; below, a dictionary helps more. */
const minBrotliBytes = 16 * 1024;

/** What most records contain. It belongs to the file format: another text needs another schema version. */
const dictionary = Buffer.from(
  '"untrainable":"client disconnected","malformed":"parameters":{"type":"object","properties":{"type":' +
    '"string","description":"required":["name","tools":[{"name":"toolCalls":[{"id":"call_","arguments":"{\\"' +
    '"toolCallId":"call_{"role":"tool","content":"{"role":"assistant","content":"","reasoning":"' +
    '{"messages":[{"role":"system","content":"You are a helpful assistant. {"role":"user","content":"the ' +
    '{"fields":{"responseId":"chatcmpl-","trajectoryUid":null,"protocol":"anthropic-messages"' +
    '"protocol":"openai-responses""protocol":"openai-completions""protocol":"openai-chat","model":"' +
    '","response":{"role":"assistant","content":""logprobKind":"processed""logprobKind":"raw",' +
    '"stopReason":"length""stopReason":"stop","weightVersion":0,"sampling":{"temperature":1,"topP":1,' +
    '"topK":0,"minP":0,"maxTokens":512,"stopTokenIds":[],"seed":1,"parentId":null,"startedAt":17',
);

function tagged(tag: number, bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length + 1);
  out[0] = tag;
  bytes.copy(out, 1);
  return out;
}

export function packJson(value: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(value));
  if (bytes.length < minPacked) return tagged(plain, bytes);
  if (bytes.length < minBrotliBytes) {
    const small = bytes.length < 4096;
    const options = { level: 1, memLevel: small ? 6 : 8, windowBits: small ? 12 : 15, dictionary };
    return tagged(deflated, deflateRawSync(bytes, options));
  }
  const params = {
    // A third faster than 1, for a tenth more bytes.
    [constants.BROTLI_PARAM_QUALITY]: 0,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return tagged(brotli, brotliCompressSync(bytes, { params }));
}

/** A store may come from anywhere, and a few kB can hold gigabytes; no string is longer than this. */
const maxUnpacked = { maxOutputLength: 2 ** 29 };

/** @throws Error when these bytes are not what `packJson` made, or unpack to more than 512 MiB. */
export function unpackJson(packed: Uint8Array): unknown {
  const bytes = packed.subarray(1);
  const tag = packed[0];
  if (tag === deflated)
    return JSON.parse(inflateRawSync(bytes, { dictionary, ...maxUnpacked }).toString());
  if (tag === brotli) return JSON.parse(brotliDecompressSync(bytes, maxUnpacked).toString());
  if (tag === plain) return JSON.parse(Buffer.from(bytes).toString());
  throw new Error(`A stored record is packed in the unknown way ${String(tag)}.`);
}
