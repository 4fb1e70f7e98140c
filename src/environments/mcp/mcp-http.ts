/** The official HTTP transport, with what it lacks: a limit of size, and an error where a stream ends early. */
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { fetchSameOrigin } from "../../http/fetch-same-origin.ts";
import { sizeFault } from "../../http/http-fault.ts";
import { toEnvironmentError } from "../http.ts";

/** Of one response; of a stream all messages together. */
const maxBytes = 64 * 2 ** 20;

/** `fetch`, whose bodies fail when they are too large. */
export async function fetchLimited(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetchSameOrigin(url, init);
  if (response.body === null) return response;
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      size += piece.byteLength;
      if (size > maxBytes) throw toEnvironmentError(String(url), sizeFault(maxBytes));
      controller.enqueue(piece);
    },
  });
  const { status, statusText, headers } = response;
  const limited = new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  return Object.defineProperty(limited, "url", { value: response.url });
}

/**
 * A request whose stream ends without a response, and cannot be taken up again, fails at once. The transport
 * alone would leave it to the time limit of the request.
 */
export function failCutStreams(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd: () => {
        if (Array.isArray(message) || !("id" in message) || !("method" in message)) return;
        // One that was answered is unknown by now, and this is ignored.
        transport.onmessage?.({
          jsonrpc: "2.0",
          id: message.id,
          error: { code: connectionClosed, message: "The connection was cut before the response." },
        });
      },
    });
}

/** As the official client calls it, in the range of JSON-RPC that implementations may use. */
const connectionClosed = -32_000;
