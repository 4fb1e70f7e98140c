/** Bearer tokens (or `x-api-key`): made at random, compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ApiError } from "./api-error.ts";

/** A new secret; `prefix` only tells people what it opens. */
export function createToken(prefix: string): string {
  return `${prefix}-${randomBytes(32).toString("base64url")}`;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const nobody = digest(createToken("none"));

/** What is kept of a token to check others against it. */
export function tokenDigest(token: string): Buffer {
  return digest(token);
}

/**
 * @throws ApiError 401, the same one whether the token is missing, wrong, or there is nothing
 * that it could open (`expected` undefined).
 */
export function requireToken(request: Request, expected: Buffer | undefined): void {
  const header = request.headers.get("authorization") ?? "";
  // Anthropic's clients send their key in a header of its own.
  const given =
    /^bearer +(\S+) *$/i.exec(header)?.[1] ?? request.headers.get("x-api-key")?.trim() ?? "";
  // Hashing first makes lengths equal; comparing with `nobody` makes unknown sessions cost the same.
  const same = timingSafeEqual(digest(given), expected ?? nobody);
  if (same && expected !== undefined) return;
  throw new ApiError({
    status: 401,
    message: "The bearer token is missing or does not open this URL.",
    reason: "invalid_api_key",
  });
}
