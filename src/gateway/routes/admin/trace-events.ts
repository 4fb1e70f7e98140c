/** A session's traces as server-sent events: those that are there, then each as it is recorded. */
import type { GatewayContext } from "../../gateway-context.ts";
import type { CaptureSession } from "../../session/session.ts";
import { toWireTrace } from "../../http/wire.ts";

/** Traces read at once. */
const pageSize = 16;
/** A comment this often shows proxies and clients that the stream is alive. */
const heartbeatMs = 15_000;

const encoder = new TextEncoder();

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
export function streamTraces(
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
            (trace) => `event: trace\ndata: ${JSON.stringify(toWireTrace(trace))}\n\n`,
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
