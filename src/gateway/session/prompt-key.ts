/** Identifies a prompt by its tokens. */
import { hash } from "node:crypto";

export function promptKey({ buffer, byteOffset, byteLength }: Int32Array): string {
  return hash("sha1", new Uint8Array(buffer, byteOffset, byteLength), "base64url");
}
