/** One request whose response may take as long as the caller likes: Node's fetch gives up after 300 s. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

export interface PostOptions {
  readonly url: URL;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Rejects with the reason of `signal`, an error of the connection, or a RangeError beyond `maxBytes`. */
export function postJson(
  options: PostOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  const { url, body, headers, maxBytes, signal } = options;
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(signal.aborted ? signal.reason : error);
    };
    const outgoing = send(
      url,
      {
        method: "POST",
        // Kept connections would be used after the server has closed them.
        agent: false,
        signal,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxBytes) {
            outgoing.destroy(new RangeError(`The response is larger than ${maxBytes} bytes.`));
          } else chunks.push(chunk);
        });
        response.once("error", fail);
        response.once("end", () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        });
      },
    );
    outgoing.once("error", fail);
    outgoing.end(body);
  });
}
