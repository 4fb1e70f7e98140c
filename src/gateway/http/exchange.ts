/** What passed between a client and the gateway in one model call: both bodies, for those who look at them later. */
import { redact } from "../../util/redact.ts";
import type { BodyLimits } from "./body.ts";
import { EarlyReply, JsonReply, type Reply } from "./reply.ts";
import { EventStream } from "./event-stream.ts";

/** The beginning of a body. */
export interface KeptBody {
  /** With keys redacted. */
  readonly text: string;
  /** Of the whole body, in UTF-16 code units as JavaScript counts them. */
  readonly length: number;
}

/** One model call over HTTP. */
export interface HttpExchange {
  readonly session: string;
  /** As in `Trace.responseId`. */
  readonly response: string;
  /** Without host and query. */
  readonly path: string;
  /** Those that say something of the call; none that holds a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly request: KeptBody;
  /** JSON, or the events of a stream as they were sent. */
  readonly reply: KeptBody;
}

/** Who receives exchanges, and how much of each body. */
export interface ExchangeListener {
  /** Characters of each body. */
  readonly limit: number;
  /** Must not throw. */
  readonly take: (exchange: HttpExchange) => void;
}

const shownHeaders =
  /^(?:content-type|user-agent|anthropic-(?:beta|version)|openai-beta|x-stainless-.+)$/u;

/** Searched for keys in addition to what is kept: half of a key is not recognized. */
const margin = 1024;

/** Cut before it is searched for keys, since a body may be megabytes, and once more after that. */
function keptBody(text: string, limit: number, length: number = text.length): KeptBody {
  return { text: redact(text.slice(0, limit + margin)).slice(0, limit), length };
}

/** Bodies of requests that were read, until their exchange is over. */
export class ExchangeRecorder {
  readonly #listener: ExchangeListener;
  readonly #bodies = new WeakMap<Request, KeptBody>();

  constructor(listener: ExchangeListener) {
    this.#listener = listener;
  }

  /** @see BodyLimits.onBody */
  readonly onBody: NonNullable<BodyLimits["onBody"]> = (request, text) => {
    this.#bodies.set(request, keptBody(text, this.#listener.limit));
  };

  /** Hands on the exchange once the whole reply is known. */
  follow(request: Request, about: Pick<HttpExchange, "session" | "response">, reply: Reply): void {
    const { limit, take } = this.#listener;
    const body = this.#bodies.get(request);
    if (body === undefined) return;
    this.#bodies.delete(request);
    const headers = [...request.headers].filter(([name]) => shownHeaders.test(name));
    const end = (kept: KeptBody): void =>
      take({
        ...about,
        path: new URL(request.url).pathname.replace(/^\/sessions\/[^/]+/u, ""),
        headers: Object.fromEntries(headers.map(([name, value]) => [name, redact(value)])),
        request: body,
        reply: kept,
      });
    if (reply instanceof JsonReply) end(keptBody(reply.text, limit));
    else if (reply instanceof EarlyReply) {
      void reply.outcome.then(({ text }) => end(keptBody(text, limit)));
    } else if (reply instanceof EventStream) {
      let [text, length] = ["", 0];
      reply.watch(
        (part) => {
          length += part.length;
          if (text.length < limit + margin) text += part.slice(0, limit + margin - text.length);
        },
        () => end(keptBody(text, limit, length)),
      );
    }
  }
}
