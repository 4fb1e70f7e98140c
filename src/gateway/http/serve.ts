/** The function behind a socket. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ConfigError } from "../../core/errors.ts";
import { EventStream, eventHeaders } from "./event-stream.ts";
import { EarlyReply, jsonHeaders, type JsonReply, type Reply, writeEarly } from "./reply.ts";

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Resolves when every connection is gone; those that linger are cut. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly maxHeaderBytes: number;
}

/** Longer than clients keep idle connections, so that it is they who drop them and none is used stale. */
const keepAliveTimeoutMs = 75_000;
const closeLimitMs = 500;
/** How often Node looks for connections that are late. */
const lateCheckMs = 1000;

function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  if (error.code !== "EADDRINUSE" && error.code !== "EACCES" && error.code !== "EADDRNOTAVAIL") {
    return error;
  }
  return new ConfigError({
    message: `The gateway cannot listen on ${host}:${port} (${error.code}).`,
    hint: "Choose another port, or 0 for a free one.",
    cause: error,
    fields: { host, port },
  });
}

function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, closeLimitMs);
    // Drops idle connections at once; one that never sent a request does not count as idle.
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}

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
): Promise<HttpServer> {
  const { host, port, headersTimeoutMs, bodyTimeoutMs, maxHeaderBytes } = options;
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
    headersTimeout: headersTimeoutMs,
    // Headers and body together, as Node counts.
    requestTimeout: headersTimeoutMs + bodyTimeoutMs,
    connectionsCheckingInterval: lateCheckMs,
  };
  const server = createServer(limits, (incoming, outgoing) => {
    void listener(incoming, outgoing);
  });
  server.keepAliveTimeout = keepAliveTimeoutMs;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(listenError(error, host, port));
    });
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return { url: urlOf(host, bound), port: bound, close: () => closeServer(server) };
}
