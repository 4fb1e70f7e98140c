/**
 * Server-sent events to one client. Events of one moment go out together: what a server sent at once costs
 * one write.
 */
import { writeJson } from "../../util/raw-json.ts";

/** Where the text goes, once that is known. */
export interface EventSink {
  write(text: string): void;
  /** `text` may be empty. */
  end(text: string): void;
}

export const eventHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
};

/** Writes one response of status 200. After the client has gone, or `close`, everything is a no-op. */
export class EventStream {
  /** In addition to those of every stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the client has gone. */
  readonly #onLeave: () => void;
  #sink: EventSink | null = null;
  #waiting = "";
  #isScheduled = false;
  #isOver = false;
  #pings: NodeJS.Timeout | undefined;
  #watcher: { readonly text: (part: string) => void; readonly end: () => void } | undefined;
  /** Nothing was written since the last ping was due. */
  #isQuiet = true;

  constructor(onLeave: () => void, headers: Readonly<Record<string, string>> = {}) {
    this.#onLeave = onLeave;
    this.headers = headers;
  }

  /** Whether there is something to send at once. */
  get hasText(): boolean {
    return this.#waiting !== "";
  }

  /** Reports every event, sent or not, and once the end. Comments between events are not reported. */
  watch(text: (part: string) => void, end: () => void): void {
    if (this.#waiting !== "") text(this.#waiting);
    if (this.#isOver) end();
    else this.#watcher = { text, end };
  }

  /** `data` must be one line, as JSON is. */
  write(data: string, event?: string): void {
    if (this.#isOver) return;
    const name = event === undefined ? "" : `event: ${event}\n`;
    const text = `${name}data: ${data}\n\n`;
    this.#waiting += text;
    this.#watcher?.text(text);
    this.#schedule();
  }

  /** An event that repeats its name as `type`, as Anthropic and OpenAI's Responses have it. */
  typed(type: string, fields: object): void {
    this.write(writeJson({ type, ...fields }), type);
  }

  /** A comment, which clients skip, whenever nothing was written for so long. */
  keepAlive(everyMs: number): void {
    if (this.#isOver) return;
    this.#pings = setInterval(() => {
      if (!this.#isQuiet) this.#isQuiet = true;
      else this.#sink?.write(": still here\n\n");
    }, everyMs);
  }

  /** What was written before is sent, too. Once. */
  start(sink: EventSink): void {
    if (this.#isOver) {
      sink.end(this.#waiting);
      this.#waiting = "";
      return;
    }
    this.#sink = sink;
    this.#schedule();
  }

  close(): void {
    if (this.#isOver) return;
    this.#stop();
    // Without a sink it waits for one.
    if (!this.#sink) return;
    this.#sink.end(this.#waiting);
    this.#sink = null;
    this.#waiting = "";
  }

  /** The client has gone. */
  leave(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#sink = null;
    this.#waiting = "";
    this.#onLeave();
  }

  /** For where there is no socket. */
  toResponse(): Response {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const write = (text: string): void => {
          if (text !== "") controller.enqueue(encoder.encode(text));
        };
        this.start({
          write,
          end(text) {
            write(text);
            controller.close();
          },
        });
      },
      cancel: () => {
        this.leave();
      },
    });
    return new Response(body, { headers: { ...eventHeaders, ...this.headers } });
  }

  #stop(): void {
    this.#isOver = true;
    clearInterval(this.#pings);
    this.#watcher?.end();
    this.#watcher = undefined;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting === "") return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#waiting === "" || !this.#sink) return;
    this.#isQuiet = false;
    const text = this.#waiting;
    this.#waiting = "";
    this.#sink.write(text);
  }
}
