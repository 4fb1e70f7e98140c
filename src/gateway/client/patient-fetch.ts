/**
 * A request without a limit of its own. Node's fetch gives up on headers after five minutes, whatever
 * deadline its caller has.
 */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable } from "node:stream";

export interface PatientInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The caller's signal is its only deadline. @throws the signal's reason, or the connection's error. */
export function patientFetch(url: URL, init: PatientInit): Promise<Response> {
  const { method, headers, body, signal } = init;
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = send(url, { method, signal, headers: { ...headers, ...length } });
    request.on("error", reject);
    request.on("response", (response) => {
      const told = new Headers();
      for (const [name, value] of Object.entries(response.headers)) {
        if (value !== undefined) told.set(name, String(value));
      }
      const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>;
      resolve(new Response(stream, { status: response.statusCode ?? 502, headers: told }));
    });
    request.end(body);
  });
}
