/**
 * An HTTP request without the headers that `fetch` adds: they look like a browser's, and Ray refuses
 * uploads from browsers.
 */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { buffer } from "node:stream/consumers";

export interface PlainRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly limitMs: number;
}

export interface PlainResponse {
  readonly status: number;
  readonly text: string;
}

/** Rejects when there is no complete response within `limitMs`. */
export function sendPlain(url: string, options: PlainRequest): Promise<PlainResponse> {
  const { method, headers, body, limitMs } = options;
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(limitMs);
    const sent = request(url, { method, headers, signal }, (response) => {
      buffer(response).then(
        (data) => resolve({ status: response.statusCode ?? 0, text: data.toString("utf8") }),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
