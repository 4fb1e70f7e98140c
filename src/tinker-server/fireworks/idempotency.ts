/**
 * Requests that carry `X-Idempotency-Key`: the same one again has the response of the first, and no
 * second effect. Only successes are remembered; what was refused may be tried again.
 */
import type { MiddlewareHandler } from "hono";
import { RequestError } from "../request-error.ts";
import { bodyBytes } from "../routes/read-body.ts";
import { fingerprintOf } from "../made-once.ts";

interface Known {
  readonly fingerprint: string;
  /** Its body; null when it was refused. */
  readonly reply: Promise<string | null>;
}

/** A retry comes within minutes. */
const remembered = 4096;

/** @param isLost whether the future of this id is forgotten, so that its result cannot be fetched. */
export function onceByKey(isLost: (future: string) => boolean): MiddlewareHandler {
  const known = new Map<string, Known>();
  return async (c, next) => {
    const header = c.req.header("x-idempotency-key");
    if (header === undefined || header === "" || header.length > 256) return next();
    const key = `${c.req.path} ${header}`;
    const fingerprint = fingerprintOf(key, bodyBytes(c));
    // No wait between the last look and `set`: two requests at the same time are one, too.
    for (let before = known.get(key); before !== undefined; before = known.get(key)) {
      if (before.fingerprint !== fingerprint)
        throw new RequestError(409, "This idempotency key was used for another request.");
      const reply = await before.reply;
      if (reply !== null) return c.json(checkReply(reply, isLost));
    }
    let settle: (reply: string | null) => void = () => undefined;
    const settled = new Promise<string | null>((resolve) => {
      settle = resolve;
    });
    known.set(key, { fingerprint, reply: settled });
    const [oldest] = known.keys();
    if (known.size > remembered && oldest !== undefined) known.delete(oldest);
    try {
      await next();
    } finally {
      const isDone = c.error === undefined && c.res.status === 200;
      if (!isDone) known.delete(key);
      settle(isDone ? await c.res.clone().text() : null);
    }
  };
}

/** Another future for the same request would be a second effect. @throws RequestError 409 */
function checkReply(reply: string, isLost: (future: string) => boolean): object {
  const json = JSON.parse(reply) as { request_id?: string };
  if (json.request_id !== undefined && isLost(json.request_id))
    throw new RequestError(
      409,
      "idempotency: this request was carried out already, and its result is no longer kept.",
    );
  return json;
}
