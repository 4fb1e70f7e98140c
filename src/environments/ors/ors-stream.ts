/** A call of ORS: its stream of events, and taking it up again where the connection was cut. */
import { createParser } from "eventsource-parser";
import { startDeadline } from "../../core/deadline.ts";
import { delay } from "../../util/abort.ts";
import { environmentError } from "../episode/environment-error.ts";
import {
  askedWaitMs,
  connectionError,
  mayPass,
  parseJson,
  readLimited,
  send,
  statusError,
  tooLarge,
  wait,
} from "../http.ts";

export interface OrsCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Limit for the call with all of its connections. */
  readonly timeoutMs: number;
  /** Time without a byte after which a connection counts as cut; servers send something every 10 s. */
  readonly idleMs: number;
  /** Maximum size of the events of one connection. */
  readonly maxBytes: number;
}

const maxResumes = 5;

/** Time that a server which is still starting gets. */
const maxStarts = 60;

/** The server did not begin the call yet, and said so. */
class StartingError extends Error {
  readonly waitMs: number | undefined;
  constructor(waitMs: number | undefined) {
    super("The server is starting.");
    this.waitMs = waitMs;
  }
}

/**
 * The JSON of the last event. The call is sent again only with the id that the server gave it, which
 * replays its result: without one, the server may or may not have begun it.
 *
 * @throws AgentTrainerError (`ENVIRONMENT_FAILED`)
 */
export async function callOverStream(call: OrsCall): Promise<unknown> {
  const { url, signal, timeoutMs } = call;
  const deadline = startDeadline(`The call of ${url}`, timeoutMs, signal);
  let taskId: string | undefined;
  let starts = 0;
  let resumes = 0;
  let crash = "";
  try {
    for (;;) {
      const body = taskId === undefined ? call.body : { ...call.body, task_id: taskId };
      try {
        const own = { ...call, body, signal: deadline.signal };
        // oxlint-disable-next-line no-await-in-loop
        const ending = await readStream(own, (id) => (taskId = id));
        if (ending.failure === undefined) return ending.result;
        crash = ending.failure;
        break;
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.hasPassed()) throw late(url, timeoutMs);
        if (error instanceof StartingError && starts++ < maxStarts) {
          // oxlint-disable-next-line no-await-in-loop
          await delay(error.waitMs ?? wait(starts), deadline.signal);
          continue;
        }
        const failed = connectionError(url, error);
        if (taskId === undefined || !mayPass(failed) || ++resumes > maxResumes) throw failed;
        // oxlint-disable-next-line no-await-in-loop
        await delay(wait(resumes), deadline.signal);
      }
    }
    throw environmentError(`The environment failed in a call of ${url}: ${crash}`, {
      fields: { url },
    });
  } catch (error) {
    signal.throwIfAborted();
    throw deadline.hasPassed() ? late(url, timeoutMs) : error;
  } finally {
    deadline.dispose();
  }
}

const late = (url: string, timeoutMs: number): Error =>
  environmentError(`A call of ${url} did not end within ${timeoutMs} ms.`, {
    hint: "Raise environment.call_timeout_s if the tool needs more time.",
    fields: { url, timeoutMs },
  });

/** What a call came to: its result, or what was said about the failure of the environment itself. */
type Ending = { readonly result: unknown; readonly failure?: never } | { readonly failure: string };

/** One connection, to the event that ends it. */
async function readStream(call: OrsCall, onTaskId: (id: string) => void): Promise<Ending> {
  const { url, headers, body, idleMs, maxBytes } = call;
  const idle = startDeadline(`The stream of ${url}`, idleMs, call.signal);
  const pieces: string[] = [];
  let end: string | undefined;
  let failure: string | undefined;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === "task_id") onTaskId(data);
      else if (event === "chunk") pieces.push(data);
      else if (event === "end") end ??= data;
      else if (event === "error") failure ??= data;
    },
  });
  try {
    const response = await send(
      { url, headers: { ...headers, accept: "text/event-stream" }, body },
      idle.signal,
    );
    if (!response.ok) {
      const text = await readLimited(response, url, 64 * 1024);
      if (response.headers.get("x-backend-state") === "starting") {
        throw new StartingError(askedWaitMs(response));
      }
      throw statusError(url, { status: response.status, text });
    }
    const decoder = new TextDecoder();
    let size = 0;
    for await (const piece of response.body ?? []) {
      idle.restart();
      size += (piece as Uint8Array).byteLength;
      if (size > maxBytes) throw tooLarge(url, maxBytes);
      parser.feed(decoder.decode(piece as Uint8Array, { stream: true }));
      // The rest of the stream is of no interest, and may never end.
      if (end !== undefined || failure !== undefined) break;
    }
  } catch (error) {
    throw idle.hasPassed() ? connectionError(url, idle.signal.reason) : error;
  } finally {
    idle.dispose();
    idle.abort(undefined);
  }
  if (failure !== undefined) return { failure };
  if (end === undefined)
    throw environmentError(`The stream of ${url} was cut off.`, { fields: { url } });
  return { result: parseJson(url, pieces.join("") + end) };
}
