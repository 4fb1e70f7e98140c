/**
 * What a route responds with. A whole JSON response stays text until it is known where it goes: a socket
 * takes it as it is, which costs a tenth of a Response and its streams.
 */
import { writeJson } from "../../util/raw-json.ts";
import { EventStream } from "./event-stream.ts";

/** Headers in addition to those of its kind. */
export type MoreHeaders = Readonly<Record<string, string>>;

/** Status 200. */
export class JsonReply {
  readonly text: string;
  readonly headers: MoreHeaders;

  constructor(value: object, headers: MoreHeaders = {}) {
    this.text = writeJson(value);
    this.headers = headers;
  }
}

/** How a reply that has begun ends. */
export interface EarlyOutcome {
  readonly text: string;
  /** False for an error: its text is sent, and then the connection is cut, since the status was 200. */
  readonly isWhole: boolean;
}

/**
 * Status 200 before the JSON is known. White space comes before it, which JSON allows, so that clients that
 * give up on a silent server do not.
 */
export class EarlyReply {
  /** Never rejects. */
  readonly outcome: Promise<EarlyOutcome>;
  /** Between two chunks of white space. */
  readonly everyMs: number;
  /** Called when the client has gone. */
  readonly onLeave: () => void;
  readonly headers: MoreHeaders;

  constructor(
    outcome: Promise<EarlyOutcome>,
    everyMs: number,
    onLeave: () => void,
    headers: MoreHeaders = {},
  ) {
    this.outcome = outcome;
    this.everyMs = everyMs;
    this.onLeave = onLeave;
    this.headers = headers;
  }
}

export type Reply = EarlyReply | EventStream | JsonReply | Response;

export const jsonHeaders: Readonly<Record<string, string>> = { "content-type": "application/json" };

/** Sends white space to `write` until the outcome is known, and then hands that to `end`. */
export function writeEarly(
  { outcome, everyMs }: EarlyReply,
  write: () => void,
  end: (outcome: EarlyOutcome) => void,
): { readonly stop: () => void } {
  write();
  const timer = setInterval(write, everyMs);
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    clearInterval(timer);
  };
  void outcome.then((known) => {
    if (isStopped) return;
    stop();
    end(known);
  });
  return { stop };
}

function earlyResponse(reply: EarlyReply): Response {
  const encoder = new TextEncoder();
  let writing: { readonly stop: () => void } | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      writing = writeEarly(
        reply,
        () => {
          controller.enqueue(encoder.encode(" "));
        },
        ({ text, isWhole }) => {
          if (isWhole) {
            controller.enqueue(encoder.encode(text));
            controller.close();
          } else controller.error(new Error(text));
        },
      );
    },
    cancel() {
      writing?.stop();
      reply.onLeave();
    },
  });
  return new Response(body, { headers: { ...jsonHeaders, ...reply.headers } });
}

export function toResponse(reply: Reply): Response {
  if (reply instanceof Response) return reply;
  if (reply instanceof EarlyReply) return earlyResponse(reply);
  if (reply instanceof EventStream) return reply.toResponse();
  return new Response(reply.text, { headers: { ...jsonHeaders, ...reply.headers } });
}

/** Tells a client what it asked for that sampling did not enforce. */
const header = "x-agent-trainer-unenforced";
const longest = 1000;

/** Header values are ASCII without control characters; schemas may have any names. */
const toAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`);

/** No header where everything is enforced. */
export function unenforcedHeaders(unenforced: readonly string[]): MoreHeaders {
  if (unenforced.length === 0) return {};
  const text = toAscii(unenforced.join("; "));
  return { [header]: text.length > longest ? `${text.slice(0, longest)} ...` : text };
}
