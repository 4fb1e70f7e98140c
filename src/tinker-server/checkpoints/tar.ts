/** A folder's files as an uncompressed tar archive (POSIX ustar). */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const block = 512;

export async function tarOfFolder(folder: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const name of (await readdir(folder)).toSorted()) {
    const content = await readFile(join(folder, name));
    const padding = Buffer.alloc((block - (content.length % block)) % block);
    parts.push(header(name, content.length), content, padding);
  }
  // Two empty blocks end an archive.
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function header(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, width: number): string =>
    `${value.toString(8).padStart(width - 1, "0")}\0`;
  bytes.write(name, 0, 100);
  bytes.write(octal(0o644, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(0, 12), 136);
  bytes.write(" ".repeat(8), 148);
  bytes.write("0", 156);
  bytes.write("ustar\u000000", 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}
