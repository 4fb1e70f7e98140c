/**
 * `fetch` without the headers that it adds: they look like a browser's, and Ray refuses uploads from
 * browsers.
 */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable } from "node:stream";

export const plainFetch: typeof fetch = (input, { method, headers, body, signal } = {}) =>
  new Promise((resolve, reject) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const options = {
      ...(method === undefined ? {} : { method }),
      headers: Object.fromEntries(new Headers(headers)),
      ...(signal ? { signal } : {}),
    };
    const sent = request(url, options, (response) => {
      const { statusCode: status = 0, headersDistinct } = response;
      const received = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      );
      const isEmpty = status === 204 || status === 304;
      if (isEmpty) response.resume();
      const stream = isEmpty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>);
      resolve(new Response(stream, { status, headers: new Headers(received) }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
