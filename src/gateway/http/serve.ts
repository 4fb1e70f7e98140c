/** The function behind a socket. */
import { createServer, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { listen, type Listening } from "../../http/listen.ts";
import { EventStream, eventHeaders } from "./event-stream.ts";
import { EarlyReply, jsonHeaders, type JsonReply, type Reply, writeEarly } from "./reply.ts";

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly bodyTimeoutMs: number;
}

const closeGraceMs = 500;
/** Of a request's headers, its URL included. */
const maxHeaderBytes = 16_384;
const headersTimeoutMs = 10_000;
/** How often Node looks for connections that are late. */
const lateCheckMs = 1000;

function send({ text, headers }: JsonReply, outgoing: ServerResponse): Response {
  const length = Buffer.byteLength(text);
  outgoing.writeHead(200, { ...jsonHeaders, ...headers, "content-length": length }).end(text);
  return RESPONSE_ALREADY_SENT;
}

function sendEarly(reply: EarlyReply, outgoing: ServerResponse): Response {
  outgoing.writeHead(200, { ...jsonHeaders, ...reply.headers });
  const { stop } = writeEarly(
    reply,
    () => {
      outgoing.write(" ");
    },
    ({ text, isWhole }) => {
      if (isWhole) outgoing.end(text);
      // Without the end of the body no client takes the error for a response.
      else outgoing.write(text, () => outgoing.destroy());
    },
  );
  outgoing.once("close", () => {
    stop();
    if (!outgoing.writableFinished) reply.onLeave();
  });
  return RESPONSE_ALREADY_SENT;
}

function sendEvents(events: EventStream, outgoing: ServerResponse): Response {
  if (outgoing.destroyed) {
    events.leave();
    return RESPONSE_ALREADY_SENT;
  }
  outgoing.writeHead(200, { ...eventHeaders, ...events.headers });
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) events.leave();
  });
  // Headers travel with the first events, unless there are none yet.
  if (!events.hasText) outgoing.flushHeaders();
  events.start({
    write: (text) => void outgoing.write(text),
    end: (text) => void outgoing.end(text),
  });
  return RESPONSE_ALREADY_SENT;
}

function sendReply(reply: Exclude<Reply, Response>, outgoing: ServerResponse): Response {
  if (reply instanceof EventStream) return sendEvents(reply, outgoing);
  return reply instanceof EarlyReply ? sendEarly(reply, outgoing) : send(reply, outgoing);
}

/** @throws ConfigError when the address cannot be had. */
export async function serve(
  app: (request: Request) => Promise<Reply>,
  options: ServeOptions,
): Promise<Listening> {
  const { host, port, bodyTimeoutMs } = options;
  // A library leaves the process's Request and Response as they are.
  const listener = getRequestListener(
    async (request, { outgoing }) => {
      const reply = await app(request);
      return reply instanceof Response ? reply : sendReply(reply, outgoing as ServerResponse);
    },
    { overrideGlobalObjects: false, hostname: host },
  );
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, bodyTimeoutMs),
    // Headers and body together, as Node counts.
    requestTimeout: headersTimeoutMs + bodyTimeoutMs,
    connectionsCheckingInterval: lateCheckMs,
  };
  const server = createServer(limits, (incoming, outgoing) => {
    void listener(incoming, outgoing);
  });
  return await listen(server, { name: "The gateway", host, port, graceMs: closeGraceMs });
}
