/** A worker's response as JSON values: one of a whole response, one per event of a stream, as they arrive. */
import { isJsonObject } from "../../../../util/json-object.ts";
import { EventReader, type ServerEvent } from "../../../../http/events.ts";
import type { UpstreamResponse } from "./http-request.ts";
import { parseAnswer, parseWithIds } from "./json-with-ids.ts";
import { statusError } from "./status-error.ts";
import { malformed, UpstreamError } from "../upstream-error.ts";

/** Enough of an error page to find its message. */
const maxErrorBytes = 65_536;

async function readBytes(response: UpstreamResponse, maxBytes = Infinity): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

function parse<T>(read: () => T, workerId: string): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw malformed(workerId, "sent something that is not JSON", cause);
  }
}

function checkError(value: unknown, workerId: string): void {
  if (!isJsonObject(value) || value.error === undefined || value.error === null) return;
  const { error } = value;
  const { message, code } = isJsonObject(error) ? error : { message: error, code: undefined };
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : 500;
  const body = JSON.stringify({ message });
  throw statusError({ workerId, status, retryAfter: undefined, body });
}

const done = "[DONE]";
/** A longer event holds the prompt's ids. */
const longEvent = 4_096;

/** JSON of events; an event that repeats the id of the one before is dropped. */
class EventValues<T> {
  /** After the event that says so, nothing more is read. */
  isDone = false;
  #lastId: string | undefined;
  readonly #read: (json: unknown) => T;

  constructor(read: (json: unknown) => T) {
    this.#read = read;
  }

  /** @throws SyntaxError for an event that is not JSON. */
  of(events: readonly ServerEvent[]): T[] {
    const values: T[] = [];
    for (const { id, data } of events) {
      const isRepeated = id !== undefined && id === this.#lastId;
      this.#lastId = id;
      if (isRepeated) continue;
      this.isDone ||= data === done;
      if (this.isDone) break;
      const isLong = data.length > longEvent;
      values.push(this.#read(isLong ? parseWithIds(Buffer.from(data)) : parseAnswer(data)));
    }
    return values;
  }
}

async function* readEvents<T>(
  { body }: UpstreamResponse,
  workerId: string,
  read: (json: unknown) => T,
): AsyncGenerator<readonly T[], void> {
  const reader = new EventReader();
  const values = new EventValues((json) => {
    checkError(json, workerId);
    return read(json);
  });
  for await (const chunk of body) {
    const together = parse(() => values.of(reader.push(chunk)), workerId);
    if (together.length > 0) yield together;
    if (values.isDone) return;
  }
  let last: readonly T[] = [];
  try {
    last = values.of(reader.end());
  } catch (error) {
    // Half an event is the mark of a stream that was cut, not of one that cannot be read.
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (last.length > 0) yield last;
}

/**
 * What `read` makes of each value.
 * @throws UpstreamError for another status than 2xx, another content type, broken JSON and errors in it.
 */
export async function* readJsonResponses<T>(
  response: UpstreamResponse,
  workerId: string,
  read: (json: unknown) => T,
): AsyncGenerator<readonly T[], void, undefined> {
  const { status, header } = response;
  if (status < 200 || status > 299) {
    const body = await readBytes(response, maxErrorBytes).catch(() => "");
    const retryAfter = header("retry-after");
    throw statusError({ workerId, status, retryAfter, body: body.toString() });
  }
  const type = (header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === "text/event-stream") {
    yield* readEvents(response, workerId, read);
    return;
  }
  if (type !== "application/json") {
    await response.body.return();
    throw new UpstreamError({
      failure: "malformed",
      message: `The worker "${workerId}" sent ${type === "" ? "no content type" : type} instead of JSON.`,
      workerId,
    });
  }
  const bytes = await readBytes(response);
  const value = parse(() => parseWithIds(bytes), workerId);
  checkError(value, workerId);
  yield [read(value)];
}
