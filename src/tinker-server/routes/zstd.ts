/** Zstandard, where this Node has it (from 22.15). */
import * as zlib from "node:zlib";
import { RequestError } from "../request-error.ts";

const { zstdDecompressSync: decompress } = zlib as {
  zstdDecompressSync?: (
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number },
  ) => Uint8Array;
};

/** @throws RequestError 413 when it unpacks to more, 415, 422 */
export function zstdDecompressSync(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (decompress === undefined)
    throw new RequestError(415, "This server cannot read zstd; send the body as it is.");
  try {
    return decompress(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new RequestError(413, `The body unpacks to more than ${maxBytes} bytes.`);
    throw new RequestError(422, "The body is no zstd, though its Content-Encoding says so.");
  }
}
