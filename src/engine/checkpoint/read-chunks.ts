/** Reads a range of a file in chunks, so that the raw bytes of a large tensor are never all in memory. */
import type { FileHandle } from "node:fs/promises";
import { ModelError } from "../../core/errors.ts";

/** Large enough that system calls do not matter, small compared to any model. */
const chunkBytes = 4 * 2 ** 20;

export interface ByteRange {
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly length: number;
}

/**
 * Calls `take` with successive chunks, each a multiple of `unit` bytes. A chunk is only valid during
 * the call.
 * @throws ModelError when the file ends early.
 */
export async function readChunks(
  handle: FileHandle,
  range: ByteRange,
  unit: number,
  take: (piece: Uint8Array, start: number) => void,
): Promise<void> {
  const size = Math.max(1, Math.floor(chunkBytes / unit)) * unit;
  const buffer = new Uint8Array(Math.min(size, range.length));
  for (let done = 0; done < range.length;) {
    const piece = buffer.subarray(0, Math.min(size, range.length - done));
    await readFully(handle, piece, range.offset + done);
    take(piece, done);
    done += piece.length;
  }
}

/** Fills `into` with the bytes from `offset` on. @throws ModelError when the file ends early. */
export async function readFully(
  handle: FileHandle,
  into: Uint8Array,
  offset: number,
): Promise<void> {
  for (let filled = 0; filled < into.length;) {
    const at = offset + filled;
    const { bytesRead } = await handle.read(into, filled, into.length - filled, at);
    if (bytesRead === 0) {
      throw new ModelError({
        message: `A file of weights ended at byte ${at}, ${into.length - filled} bytes too early.`,
        hint: "Was it changed while it was read? Download or save it again.",
        fields: { at },
      });
    }
    filled += bytesRead;
  }
}
