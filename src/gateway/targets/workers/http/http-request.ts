/**
 * One HTTP request with a deadline for each phase. Over node:http rather than fetch, because fetch
 * cannot bound the phases apart and cuts every response that takes five minutes to begin.
 */
import { listenToAbort } from "../../../../util/abort.ts";
import { request as requestHttp, type Agent, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { UpstreamError } from "../upstream-error.ts";

export interface PhaseDeadlines {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly betweenBytesMs: number;
}

export interface HttpRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent: Agent;
  readonly deadlines: PhaseDeadlines;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** For messages. */
  readonly workerId: string;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** To be read to its end or returned early; both let go of the socket. */
  readonly body: AsyncGenerator<Buffer, void, undefined>;
}

const lingerMs = 100;

function failed(workerId: string, error: NodeJS.ErrnoException, isReused: boolean): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const why = error.code ?? "error";
  const message = `The connection to the worker "${workerId}" failed (${why}).`;
  const isStale = isReused && (error.code === "ECONNRESET" || error.code === "EPIPE");
  return new UpstreamError({
    failure: isStale ? "stale" : "unreachable",
    message,
    workerId,
    cause: error,
  });
}

function late(workerId: string, what: string, limitMs: number): UpstreamError {
  const message = `The worker "${workerId}" ${what} within ${limitMs} ms.`;
  return new UpstreamError({ failure: "timeout", message, workerId });
}

/** After the last event only the end of the body is missing; with it, the connection can be used again. */
function letGo(response: IncomingMessage): void {
  if (response.destroyed || response.complete) return;
  const cut = setTimeout(() => response.destroy(), lingerMs);
  response.once("close", () => {
    clearTimeout(cut);
  });
  response.resume();
}

async function* readBody(
  response: IncomingMessage,
  { deadlines, workerId, maxBytes, signal }: HttpRequest,
): AsyncGenerator<Buffer, void, undefined> {
  const { firstByteMs, betweenBytesMs } = deadlines;
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const watch = (what: string, limitMs: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => response.destroy(late(workerId, what, limitMs)), limitMs);
  };
  watch("sent no first byte", firstByteMs);
  try {
    const chunks = response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    for await (const chunk of chunks) {
      clearTimeout(timer);
      bytes += chunk.length;
      if (bytes > maxBytes) {
        const message = `The worker "${workerId}" sent more than ${maxBytes} bytes.`;
        throw new UpstreamError({ failure: "malformed", message, workerId });
      }
      yield chunk;
      watch("sent nothing more", betweenBytesMs);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamError) throw error;
    const message = `The worker "${workerId}" cut its response short.`;
    throw new UpstreamError({ failure: "cut", message, workerId, cause: error });
  } finally {
    clearTimeout(timer);
    letGo(response);
  }
}

/** @throws UpstreamError, or the signal's reason. */
export function sendHttp(options: HttpRequest): Promise<UpstreamResponse> {
  const { url, method, headers, body, agent, deadlines, signal, workerId } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = send(url, { method, agent, headers: { ...headers, ...length } });
    let timer = setTimeout(() => {
      request.destroy(late(workerId, "accepted no connection", deadlines.connectMs));
    }, deadlines.connectMs);
    const connected = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        request.destroy(late(workerId, "sent no first byte", deadlines.firstByteMs));
      }, deadlines.firstByteMs);
    };
    let hasResponded = false;
    const onAbort = (): void => {
      // At the end of a response the socket has no listener for a moment, so an error would be uncaught.
      request.destroy(hasResponded ? undefined : (signal.reason as Error));
    };
    listenToAbort(signal, onAbort);
    request.on("socket", (socket) => {
      if (socket.connecting) {
        socket.once(url.protocol === "https:" ? "secureConnect" : "connect", connected);
      } else connected();
    });
    request.on("error", (error) => {
      clearTimeout(timer);
      reject(
        signal.aborted ? (signal.reason as Error) : failed(workerId, error, request.reusedSocket),
      );
    });
    request.on("response", (response) => {
      hasResponded = true;
      clearTimeout(timer);
      // A body that is no longer read must not be an uncaught error.
      response.on("error", () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        header: (name) => {
          const value = response.headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body: readBody(response, options),
      });
    });
    request.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
    request.end(body);
  });
}
