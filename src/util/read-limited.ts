/** The body of a response as text, up to a limit. */

/** @throws what `tooLarge` returns, before more than `maxBytes` are held. */
export async function readLimited(
  response: Response,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += (piece as Uint8Array).byteLength;
    if (size > maxBytes) throw tooLarge();
    pieces.push(piece as Uint8Array);
  }
  return Buffer.concat(pieces).toString("utf8");
}
