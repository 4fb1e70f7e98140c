/** A call of ORS: its stream of events, and taking it up again where the connection was cut. */
import { startDeadline } from "../../core/deadline.ts";
import { readEvents } from "../../http/events.ts";
import { HttpFault, parseJson } from "../../http/http-fault.ts";
import { retry } from "../../util/retry.ts";
import { environmentError } from "../episode/environment-error.ts";
import { openStream, toEnvironmentError, wait } from "../http.ts";

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
const isStarting = (error: unknown): error is HttpFault =>
  error instanceof HttpFault && error.headers?.get("x-backend-state") === "starting";

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
  const attempt = (): Promise<Ending> => {
    const body = taskId === undefined ? call.body : { ...call.body, task_id: taskId };
    return readStream({ ...call, body, signal: deadline.signal }, (id) => (taskId = id));
  };
  const waitMs = (error: unknown, failures: number): number => {
    if (isStarting(error) && starts < maxStarts) {
      starts += 1;
      return error.retryAfterMs ?? wait(starts);
    }
    const failed = toEnvironmentError(url, error);
    const resumes = failures - starts;
    if (taskId === undefined || failed.fields["isFinal"] === true || resumes > maxResumes)
      throw failed;
    return wait(resumes);
  };
  let ending: Ending;
  try {
    ending = await retry(attempt, { signal: deadline.signal, waitMs });
  } catch (error) {
    signal.throwIfAborted();
    throw deadline.hasPassed() ? late(url, timeoutMs) : error;
  } finally {
    deadline.dispose();
  }
  if (ending.failure === undefined) return ending.result;
  throw environmentError(`The environment failed in a call of ${url}: ${ending.failure}`, {
    fields: { url },
  });
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
  try {
    const request = { url, body, headers: { ...headers, accept: "text/event-stream" } };
    const response = await openStream({ ...request, signal: idle.signal });
    const limits = { maxBytes, onBytes: () => idle.restart() };
    for await (const { event, data } of readEvents(response, limits)) {
      if (event === "task_id") onTaskId(data);
      else if (event === "chunk") pieces.push(data);
      // The rest of the stream is of no interest, and may never end.
      else if (event === "error") return { failure: data };
      else if (event === "end") return { result: parseJson(pieces.join("") + data) };
    }
  } catch (error) {
    throw idle.hasPassed() ? idle.signal.reason : error;
  } finally {
    idle.dispose();
    idle.abort(undefined);
  }
  throw environmentError(`The stream of ${url} was cut off.`, { fields: { url } });
}
