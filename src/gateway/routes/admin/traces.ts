/** Captured calls over HTTP. The caller has checked the admin token. */
import { ApiError } from "../../http/api-error.ts";
import { readNumber, show } from "../../http/json-fields.ts";
import { JsonReply, toResponse, type MoreHeaders } from "../../http/reply.ts";
import { toWireTrace } from "../../http/wire.ts";
import { defined } from "../../../util/defined.ts";
import { writeJson } from "../../../util/raw-json.ts";
import {
  cursorBounds,
  limitBounds,
  readQueryNumber,
  sinceBounds,
  type OwnContext,
} from "./own-route.ts";
import { readSessionIds, requireSession } from "./sessions.ts";
import type { GatewayContext } from "../../gateway-context.ts";
import type { CaptureSession } from "../../session/session.ts";

/** Traces read at once. */
const pageSize = 16;
/** A comment this often shows proxies and clients that the stream is alive. */
const heartbeatMs = 15_000;

const encoder = new TextEncoder();

const jsonResponse = (value: object, headers?: MoreHeaders): Response =>
  toResponse(new JsonReply(value, headers));

/** Resolves at the next change, or after the heartbeat. */
function nextChange(session: CaptureSession): { readonly changed: Promise<boolean>; stop(): void } {
  let finish: (changed: boolean) => void = () => undefined;
  const changed = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  const timer = setTimeout(() => finish(false), heartbeatMs);
  const unwatch = session.watch(() => finish(true));
  const stop = (): void => {
    clearTimeout(timer);
    unwatch();
    finish(false);
  };
  return { changed, stop };
}

/** `after` may also come as `Last-Event-ID`, as clients send it when they connect again. */
function streamTraces(
  gateway: GatewayContext,
  session: CaptureSession,
  request: Request,
  after: number | undefined,
): Response {
  let cursor = after ?? (Number(request.headers.get("last-event-id")) || 0);
  let waiting: ReturnType<typeof nextChange> | undefined;
  const nextPart = async (): Promise<string | null> => {
    for (;;) {
      // Watched before reading, so that nothing arrives unseen in between.
      waiting = nextChange(session);
      try {
        if (session.closed) return null;
        const page = await gateway.store.page({
          sessionUid: session.uid,
          after: cursor,
          limit: pageSize,
        });
        if (page.traces.length > 0) {
          cursor = page.cursor;
          const events = page.traces.map(
            (trace) => `event: trace\ndata: ${writeJson(toWireTrace(trace))}\n\n`,
          );
          // With the last one only, so that a page cut in two is sent again as a whole.
          const last = events.pop() as string;
          return `${events.join("")}id: ${cursor}\n${last}`;
        }
        if (!(await waiting.changed)) return ": still here\n\n";
      } finally {
        waiting.stop();
      }
    }
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = await nextPart();
      if (part !== null) controller.enqueue(encoder.encode(part));
      else {
        controller.enqueue(encoder.encode("event: end\ndata: {}\n\n"));
        controller.close();
      }
    },
    cancel() {
      waiting?.stop();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}

/** Largest page when only a cursor was given. */
const defaultPage = 100;

/**
 * All traces by order of dispatch; or, with `cursor`, `since` or `limit`, a page by order of arrival,
 * whose header `x-next-cursor` is the cursor of the next.
 */
export async function listTraces(context: OwnContext): Promise<Response> {
  const { gateway, request, params } = context;
  const session = requireSession(gateway, params[0] as string);
  const since = readQueryNumber(request, "since", sinceBounds);
  const limit = readQueryNumber(request, "limit", limitBounds);
  const after = readQueryNumber(request, "cursor", cursorBounds);
  if (request.headers.get("accept")?.includes("text/event-stream") === true) {
    return streamTraces(gateway, session, request, after);
  }
  if (since === undefined && limit === undefined && after === undefined) {
    return jsonResponse((await session.traces()).map(toWireTrace));
  }
  const page = await gateway.store.page({
    sessionUid: session.uid,
    limit: limit ?? (after === undefined ? Number.MAX_SAFE_INTEGER : defaultPage),
    ...defined({ after }),
    ...(since === undefined ? {} : { since: since * 1000 }),
  });
  const headers = { "x-next-cursor": String(page.cursor) };
  return jsonResponse(page.traces.map(toWireTrace), headers);
}

/** @throws ApiError 404 */
export async function showTrace({ gateway, params: [id] }: OwnContext): Promise<Response> {
  const trace = await gateway.store.get(id as string);
  if (trace) return jsonResponse(toWireTrace(trace));
  throw new ApiError({
    status: 404,
    message: `There is no trace ${show(id)}.`,
    reason: "trace_not_found",
  });
}

/** Those of several sessions, in the order of the sessions; `limit` is for each. */
export async function queryTraces(context: OwnContext): Promise<Response> {
  const { uids, body } = await readSessionIds(context);
  const since = readNumber(body, "since", sinceBounds);
  const limit = readNumber(body, "limit", limitBounds) ?? Number.MAX_SAFE_INTEGER;
  const { store } = context.gateway;
  const pages = await Promise.all(
    uids.map(async (sessionUid) =>
      store.page({ sessionUid, limit, ...(since === undefined ? {} : { since: since * 1000 }) }),
    ),
  );
  return jsonResponse(pages.flatMap((page) => page.traces.map(toWireTrace)));
}
