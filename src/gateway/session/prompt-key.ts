/** What distinguishes one sampled call of a session from another, whatever their order. */
import { hash } from "node:crypto";

/**
 * Stands for a prompt asked by a trajectory. By trajectory, so that roles that ask the same thing at the
 * same time do not race.
 */
export function promptKey(tokens: Int32Array, trajectoryLabel: string): string {
  const bytes = new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength);
  return hash("sha1", bytes, "base64url") + trajectoryLabel;
}
