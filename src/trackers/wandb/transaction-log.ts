/**
 * The file that W&B's own client writes and its command line uploads: LevelDB's log format under a
 * header of seven bytes. Blocks of 32 KiB hold records with checksum, length and kind; one that does not
 * fit is continued in the next block.
 * https://github.com/google/leveldb/blob/main/doc/log_format.md
 */
import { crc32 } from "../checksums.ts";

const blockSize = 32 * 1024;
const headerSize = 7;
const kinds = { full: 1, first: 2, middle: 3, last: 4 } as const;

/** `:W&B`, the magic number 0xBEE1, and version 0. */
const fileHeader = Uint8Array.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0]);

/** Turns records into the bytes that follow those already written. */
export class TransactionLog {
  #length = fileHeader.length;

  /** The first bytes of a file. */
  readonly header: Uint8Array = fileHeader;

  encode(data: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = [];
    let isFirst = true;
    let rest = data;
    do {
      const room = blockSize - (this.#length % blockSize);
      if (room < headerSize) {
        parts.push(new Uint8Array(room));
        this.#length += room;
        continue;
      }
      const piece = rest.subarray(0, room - headerSize);
      rest = rest.subarray(piece.length);
      const isLast = rest.length === 0;
      const kind = isFirst
        ? isLast
          ? kinds.full
          : kinds.first
        : isLast
          ? kinds.last
          : kinds.middle;
      parts.push(this.#record(kind, piece));
      isFirst = false;
    } while (rest.length > 0 || isFirst);
    return Buffer.concat(parts);
  }

  #record(kind: number, piece: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(headerSize + piece.length);
    const view = new DataView(bytes.buffer);
    bytes[6] = kind;
    bytes.set(piece, headerSize);
    view.setUint32(0, crc32(bytes.subarray(6)), true);
    view.setUint16(4, piece.length, true);
    this.#length += bytes.length;
    return bytes;
  }
}
