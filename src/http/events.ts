/** Server-sent events from bytes, wherever these are cut. */
import { StringDecoder } from "node:string_decoder";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { sizeFault } from "./http-fault.ts";

export type ServerEvent = EventSourceMessage;

export class EventReader {
  #events: ServerEvent[] = [];
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser = createParser({ onEvent: (event) => this.#events.push(event) });
  #isFirst = true;

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): readonly ServerEvent[] {
    return this.#feed(this.#decoder.write(bytes));
  }

  /** The end of the body: some servers omit the last empty line. */
  end(): readonly ServerEvent[] {
    return this.#feed(`${this.#decoder.end()}\n\n`);
  }

  #feed(text: string): readonly ServerEvent[] {
    if (text === "") return [];
    const isMarked = this.#isFirst && text.startsWith("\uFEFF");
    this.#isFirst = false;
    this.#parser.feed(isMarked ? text.slice(1) : text);
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

export interface EventLimits {
  /** Of the whole stream. */
  readonly maxBytes: number;
}

/** Events as they come; who has had enough stops reading. @throws HttpFault for more than `maxBytes` */
export async function* readEvents(
  { body }: Response,
  { maxBytes }: EventLimits,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = new EventReader();
  let size = 0;
  for await (const bytes of body ?? []) {
    size += (bytes as Uint8Array).byteLength;
    if (size > maxBytes) throw sizeFault(maxBytes);
    yield* reader.push(bytes as Uint8Array);
  }
}
