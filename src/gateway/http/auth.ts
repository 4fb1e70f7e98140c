/** Bearer tokens (or `x-api-key`) of requests. */
import { timingSafeEqual } from "node:crypto";
import { createToken, tokenDigest } from "../../http/keys.ts";
import { ApiError } from "./api-error.ts";

const noDigest = tokenDigest(createToken("none"));

/** Clients that know no tokens can carry one as the password of `http://any:TOKEN@host`. */
function basicPassword(header: string): string | undefined {
  const encoded = /^basic +([a-z\d+/]+={0,2}) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString();
  const at = text.indexOf(":");
  return at === -1 ? undefined : text.slice(at + 1);
}

function tokenOf(headers: Headers): string {
  const header = headers.get("authorization") ?? "";
  const bearer = /^bearer +(\S+) *$/i.exec(header)?.[1] ?? basicPassword(header);
  // Clients of Anthropic and of Azure send their key in other headers.
  const own = headers.get("x-api-key") ?? headers.get("api-key");
  return bearer ?? own?.trim() ?? "";
}

/**
 * @param closed of what the token opened until it was closed: only its holder learns that.
 * @throws ApiError 401, the same one whether the token is missing, wrong, or there is nothing
 * that it could open (`expected` undefined).
 */
export function requireToken(
  request: Request,
  expected: Buffer | undefined,
  closed?: Buffer,
): void {
  const given = tokenDigest(tokenOf(request.headers));
  // Hashing first makes lengths equal; comparing with `noDigest` makes unknown sessions cost the same.
  const same = timingSafeEqual(given, expected ?? noDigest);
  if (same && expected !== undefined) return;
  if (timingSafeEqual(given, closed ?? noDigest) && closed !== undefined) {
    throw new ApiError({
      status: 401,
      message:
        "This session is closed: its rollout has ended, or reached its time limit. Later calls are refused.",
      reason: "session_closed",
    });
  }
  throw new ApiError({
    status: 401,
    message: "The bearer token is missing or does not open this URL.",
    reason: "invalid_api_key",
  });
}
