/**
 * Server-sent events to one client. Events of one moment go out together: what a server sent at once costs
 * one write. Knows no protocol.
 */

const encoder = new TextEncoder();

/** Writes one answer. After the client has gone, or `close`, everything is a no-op. */
export class EventStream {
  /** The client's end. */
  readonly body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting = "";

  constructor(onCancel: () => void) {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = null;
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

  close(): void {
    this.#flush();
    this.#controller?.close();
    this.#controller = null;
  }

  #flush(): void {
    if (this.#waiting === "") return;
    this.#controller?.enqueue(encoder.encode(this.#waiting));
    this.#waiting = "";
  }
}
