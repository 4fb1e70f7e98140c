/** Cyclic redundancy checks of log files: CRC-32 (zlib's) and CRC-32C (Castagnoli's). */

function tableOf(polynomial: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    return value >>> 0;
  });
}

const checksum =
  (table: Uint32Array) =>
  (bytes: Uint8Array): number => {
    let crc = 0xffffffff;
    for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
    return ~crc >>> 0;
  };

/** CRC-32 as in gzip. Node's own `zlib.crc32` needs Node 20.15 to 21, or 22.2. */
export const crc32: (bytes: Uint8Array) => number = checksum(tableOf(0xedb88320));

/** CRC-32C as in iSCSI, RFC 3720 B.4. */
export const crc32c: (bytes: Uint8Array) => number = checksum(tableOf(0x82f63b78));
