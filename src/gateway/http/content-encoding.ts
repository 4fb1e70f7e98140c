/** Compressed request bodies, read back within a bound: a small body may expand to a large one. */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { ApiError, badRequest } from "./api-error.ts";

type Decompress = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const encodings: Readonly<Record<string, Decompress>> = {
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
};

/** The encoding of a request's body; null for none. @throws ApiError 415 for one that is not known. */
export function bodyEncoding(headers: Headers): string | null {
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
export async function decompress(
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
