/** The body of a response, up to a limit. */

/** @throws what `tooLarge` returns, before more than `maxBytes` are held. */
export async function readLimitedBytes(
  response: Response,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += (piece as Uint8Array).byteLength;
    if (size > maxBytes) throw tooLarge();
    pieces.push(piece as Uint8Array);
  }
  return Buffer.concat(pieces);
}

/** Likewise, as text. */
export async function readLimited(
  ...request: Parameters<typeof readLimitedBytes>
): Promise<string> {
  return (await readLimitedBytes(...request)).toString("utf8");
}
