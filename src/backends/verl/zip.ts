/**
 * Writes a ZIP archive without compression, for a few small files. The same files give the same
 * bytes.
 */
import { crc32 } from "node:zlib";

export interface ZipFile {
  /** With slashes, relative to the root. */
  readonly path: string;
  readonly data: Uint8Array;
}

/** 1 January 1980, 00:00, the earliest time of the format. */
const dosDate = 0x0021;

const utf8Names = 0x0800;

function header(file: ZipFile, name: Uint8Array, offset: number | null): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(utf8Names, 2);
  fields.writeUInt16LE(dosDate, 8);
  fields.writeUInt32LE(crc32(file.data), 10);
  fields.writeUInt32LE(file.data.length, 14);
  fields.writeUInt32LE(file.data.length, 18);
  fields.writeUInt16LE(name.length, 22);
  if (offset === null) return Buffer.concat([Buffer.from("PK\u0003\u0004"), fields, name]);
  const made = Buffer.from([20, 0]);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([Buffer.from("PK\u0001\u0002"), made, fields, rest, name]);
}

/** Entries in the given order. */
export function makeZip(files: readonly ZipFile[]): Buffer {
  const parts: Uint8Array[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const name = new TextEncoder().encode(file.path);
    const local = header(file, name, null);
    directory.push(header(file, name, offset));
    parts.push(local, file.data);
    offset += local.length + file.data.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, entries, end]);
}
