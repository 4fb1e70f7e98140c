/** Bodies of requests: read once, up to a limit, and checked. */
import type { Context, MiddlewareHandler } from "hono";
import { z } from "zod";
import { ByteBudget, readBytes } from "../../http/bodies.ts";
import { RequestError } from "../request-error.ts";

const largestMetadata = 64 * 1024;

/** What clients attach to what they make. */
export const metadataSchema: z.ZodType<Record<string, unknown> | null | undefined> = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= largestMetadata,
    `It must have at most ${largestMetadata} characters as JSON.`,
  )
  .nullish();

const tenYears = 10 * 366 * 86_400;

/** Seconds until a checkpoint may be deleted. */
export const ttlSchema: z.ZodType<number | null | undefined> = z
  .int()
  .positive()
  .max(tenYears)
  .nullish();

const mebi = 2 ** 20;
/** A client that is still sending would not read the refusal: so many times the limit is read on. */
const drained = 8;

export class BodyTooLargeError extends RequestError {
  /** Its beginning and its end, which name its turn. */
  readonly ends: Uint8Array;

  constructor(limit: number, ends: Uint8Array) {
    const allowed = limit < mebi ? `${limit} bytes` : `${limit / mebi} MiB`;
    super(
      413,
      `The body is larger than ${allowed}. Send less at once, or start the server with a larger --max-body-mib.`,
    );
    this.ends = ends;
  }
}

export interface BodyLimits {
  /** Bytes of one body. */
  readonly each: number;
  /** Bytes of all bodies that are being worked on. */
  readonly together: number;
}

interface Body {
  readonly bytes: Uint8Array;
  readonly error: BodyTooLargeError | null;
  /** What still works on it after the response. */
  until: Promise<unknown> | null;
}

const bodies = new WeakMap<Request, Body>();

/** Reads every body before its route runs. */
export function limitBodies({ each, together }: BodyLimits): MiddlewareHandler {
  const budget = new ByteBudget(together);
  return async (c, next) => {
    const { raw } = c.req;
    if (raw.body === null) return next();
    let own = 0;
    const release = (): void => {
      budget.give(own);
      own = 0;
    };
    const count = (bytes: number): void => {
      if (!budget.take(bytes))
        throw new RequestError(429, "This server is busy with other large requests. Try again.");
      own += bytes;
    };
    try {
      const limits = { maxBytes: each, drainBytes: drained * each, count };
      const { bytes, isTooLarge } = await readBytes(raw.body, limits);
      if (isTooLarge) release();
      const error = isTooLarge ? new BodyTooLargeError(each, bytes) : null;
      bodies.set(raw, { bytes, error, until: null });
      await next();
    } finally {
      const until = bodies.get(raw)?.until ?? null;
      if (until === null) release();
      else void until.then(release, release);
    }
  };
}

/** Counts the body until `work` is over. */
export function holdBody(c: Context, work: Promise<unknown>): void {
  const body = bodies.get(c.req.raw);
  if (body !== undefined) body.until = work;
}

/** @throws RequestError 413 */
export function bodyBytes(c: Context): Uint8Array {
  const body = bodies.get(c.req.raw);
  if (body === undefined) return new Uint8Array(0);
  if (body.error !== null) throw body.error;
  return body.bytes;
}

/** @throws RequestError 413 */
export function bodyText(c: Context): string {
  return new TextDecoder().decode(bodyBytes(c));
}

/** What Python writes though it is not JSON: NaN and infinities outside of strings, as null. */
function withoutNonFinite(text: string): { readonly text: string; readonly found: string | null } {
  const marks = /["NI]/gu;
  const kept: string[] = [];
  let found: string | null = null;
  let from = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') {
      const end = endOfString(text, mark.index);
      if (end === -1) break;
      marks.lastIndex = end + 1;
      continue;
    }
    const word = ["NaN", "Infinity"].find((one) => text.startsWith(one, mark.index));
    if (word === undefined) continue;
    const start = word === "Infinity" && text[mark.index - 1] === "-" ? mark.index - 1 : mark.index;
    const end = mark.index + word.length;
    found ??= text.slice(start, end);
    kept.push(text.slice(from, start));
    marks.lastIndex = from = end;
  }
  return { text: [...kept, text.slice(from)].join("null"), found };
}

/** The quote that ends the string that begins at `start`; -1 where it has no end. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}

/** @throws RequestError 422 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { found } = withoutNonFinite(text);
    if (found !== null)
      throw new RequestError(
        422,
        `NonFiniteInTensor: the body holds ${found}, which is not a number.`,
      );
    throw new RequestError(422, "The body is not JSON.");
  }
}

/** Its JSON with numbers that are none as null; null where it cannot be read at all. */
export function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(withoutNonFinite(text).text);
    } catch {
      return null;
    }
  }
}

/** @throws RequestError 422 naming the field. */
export function readBody<T>(schema: z.ZodType<T>, text: string): T {
  const result = schema.safeParse(parseJson(text));
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new RequestError(422, `${path.join(".") || "body"}: ${message}`);
}
