/**
 * Request bodies: JSON objects of bounded size, read in bounded time. Compressed ones are read back within the
 * bound: a small body may expand to a large one.
 */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { readBytes } from "../../http/bodies.ts";
import { ApiError, badRequest } from "./api-error.ts";
import { counterOf } from "./body-budget.ts";
import { checkStructure } from "./json-fields.ts";
import { keepTexts } from "./json-source.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";

type Decompress = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const encodings: Readonly<Record<string, Decompress>> = {
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
};

/** The encoding of a request's body; null for none. @throws ApiError 415 for one that is not known. */
function bodyEncoding(headers: Headers): string | null {
  const encoding = (headers.get("content-encoding") ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return null;
  if (Object.hasOwn(encodings, encoding)) return encoding;
  throw new ApiError({
    status: 415,
    message: `The request body has the content-encoding ${JSON.stringify(encoding)}. Known are gzip, deflate and br, one at a time.`,
    reason: "unsupported_content_encoding",
  });
}

/** `onTooLarge` makes the error of a body beyond `limit` bytes. @throws that, or ApiError 400 */
async function decompress(
  body: Uint8Array,
  encoding: string,
  limit: number,
  onTooLarge: () => ApiError,
): Promise<Buffer> {
  try {
    return await (encodings[encoding] as Decompress)(body, { maxOutputLength: limit });
  } catch (cause) {
    if ((cause as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw onTooLarge();
    throw badRequest(
      undefined,
      `The request body is not ${encoding}, as its content-encoding says.`,
      "invalid_content_encoding",
    );
  }
}

function tooLarge(limit: number): ApiError {
  return new ApiError({
    status: 413,
    message: `The request body is larger than ${limit} bytes.`,
    reason: "request_too_large",
  });
}

async function readStream({ body }: Request, limit: number, count: (bytes: number) => void) {
  if (body === null) return Buffer.alloc(0);
  const { bytes, isTooLarge } = await readBytes(body, { maxBytes: limit, count });
  if (isTooLarge) throw tooLarge(limit);
  return bytes;
}

/** Limits of a body. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  /** Sees each body that was read. Must not throw. */
  readonly onBody?: (request: Request, text: string) => void;
}

async function readText(request: Request, limit: number): Promise<string> {
  const encoding = bodyEncoding(request.headers);
  if (encoding !== null) return readCompressed(request, encoding, limit);
  const declared = request.headers.get("content-length");
  if (declared === null) {
    return (await readStream(request, limit, counterOf(request))).toString("utf8");
  }
  if (Number(declared) > limit) throw tooLarge(limit);
  // A socket holds the client to its content-length, so the whole body can be read at once.
  const text = await request.text();
  if (text.length > limit) throw tooLarge(limit);
  return text;
}

async function readCompressed(request: Request, encoding: string, limit: number): Promise<string> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const packed = await readStream(request, limit, counterOf(request));
  return (await decompress(packed, encoding, limit, () => tooLarge(limit))).toString("utf8");
}

/** The text of a body, unpacked. One that trickles in must not outlive the limit. @throws ApiError 408 or 413 */
export async function readBodyText(request: Request, limits: BodyLimits): Promise<string> {
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        new ApiError({
          status: 408,
          message: `The request body did not arrive within ${bodyTimeoutMs} ms.`,
          reason: "request_timeout",
        }),
      );
    }, bodyTimeoutMs);
  });
  try {
    const text = await Promise.race([readText(request, maxBodyBytes), late]);
    limits.onBody?.(request, text);
    return text;
  } finally {
    clearTimeout(timer);
  }
}

/** @throws ApiError 408, 413 or 400. */
export async function readJsonObject(request: Request, limits: BodyLimits): Promise<JsonFields> {
  const text = await readBodyText(request, limits);
  const lost = checkStructure(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "unreadable";
    throw badRequest(undefined, `The request body is not JSON: ${reason}`, "invalid_json");
  }
  if (isJsonObject(value)) {
    keepTexts(value, lost);
    return value;
  }
  throw badRequest(undefined, "The request body must be a JSON object.", "invalid_json");
}
