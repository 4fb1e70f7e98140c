/** Zstandard, where this Node has it (from 22.15). */
import * as zlib from "node:zlib";
import { RequestError } from "../request-error.ts";

const { zstdDecompressSync: decompress } = zlib as {
  zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array;
};

/** @throws RequestError 415 */
export function zstdDecompressSync(bytes: Uint8Array): Uint8Array {
  if (decompress !== undefined) return decompress(bytes);
  throw new RequestError(415, "This server cannot read zstd; send the body as it is.");
}
