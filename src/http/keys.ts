/** Secrets that clients send: made at random, compared in constant time. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** A new one; `prefix` only shows people what it opens. */
export function createToken(prefix: string): string {
  return `${prefix}-${randomBytes(32).toString("base64url")}`;
}

/** What is kept of one to check others against it. Digests are of equal length. */
export function tokenDigest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** In a time that says neither where they differ nor how long the expected one is. */
export function isSameToken(given: string, expected: string): boolean {
  return timingSafeEqual(tokenDigest(given), tokenDigest(expected));
}
