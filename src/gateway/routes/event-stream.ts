/**
 * Server-sent events to one client. Events of one moment go out together: what a server sent at once costs
 * one write.
 */

const encoder = new TextEncoder();

/** Writes one response. After the client has gone, or `close`, everything is a no-op. */
export class EventStream {
  /** The client's end. */
  readonly body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting = "";
  #pings: NodeJS.Timeout | undefined;
  /** Nothing was written since the last ping was due. */
  #isQuiet = true;

  constructor(onCancel: () => void) {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = null;
        clearInterval(this.#pings);
        onCancel();
      },
    });
  }

  /** `data` must be one line, as JSON is. */
  write(data: string, event?: string): void {
    const name = event === undefined ? "" : `event: ${event}\n`;
    if (this.#waiting === "") setImmediate(() => this.#flush());
    this.#waiting += `${name}data: ${data}\n\n`;
  }

  /** An event that repeats its name as `type`, as Anthropic and OpenAI's Responses have it. */
  typed(type: string, fields: object): void {
    this.write(JSON.stringify({ type, ...fields }), type);
  }

  /** A comment, which clients skip, whenever nothing was written for so long. */
  keepAlive(everyMs: number): void {
    this.#pings = setInterval(() => {
      if (!this.#isQuiet) this.#isQuiet = true;
      else this.#controller?.enqueue(encoder.encode(": still here\n\n"));
    }, everyMs);
  }

  close(): void {
    clearInterval(this.#pings);
    this.#flush();
    this.#controller?.close();
    this.#controller = null;
  }

  #flush(): void {
    if (this.#waiting === "") return;
    this.#isQuiet = false;
    this.#controller?.enqueue(encoder.encode(this.#waiting));
    this.#waiting = "";
  }
}
