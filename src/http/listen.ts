/** The socket of a server: opened, or an error that names its address; closed with its connections. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { ConfigError } from "../core/errors.ts";

export interface ListenOptions {
  /** In errors: "The gateway". */
  readonly name: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** How long requests may go on once it is closed, in milliseconds. @default 0 */
  readonly graceMs?: number;
}

export interface Listening {
  /** Of a server on all addresses: the loopback one. */
  readonly url: string;
  readonly port: number;
  /** Resolves when every connection is gone. */
  close(): Promise<void>;
}

/** Longer than clients keep idle connections, so that it is they who drop them and none is used stale. */
const keepAliveTimeoutMs = 75_000;

/** A server for a function of the Fetch API, which leaves the process's `Request` and `Response` as they are. */
export function fetchServer(
  fetch: (request: Request) => Response | Promise<Response>,
  hostname: string,
): Server {
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false, hostname });
  return createServer((incoming, outgoing) => void listener(incoming, outgoing));
}

/** @throws ConfigError when the address cannot be had. */
export async function listen(
  server: Server,
  { name, host, port, graceMs = 0 }: ListenOptions,
): Promise<Listening> {
  server.keepAliveTimeout = keepAliveTimeoutMs;
  await new Promise<void>((resolve, reject) => {
    // It stays: a connection that cannot be accepted later does not end the process.
    server.on("error", (cause: NodeJS.ErrnoException) => {
      reject(
        new ConfigError({
          message: `${name} cannot listen on ${host}:${port} (${cause.code ?? cause.message}).`,
          hint: "Choose another port, or 0 for a free one.",
          cause,
          fields: { host, port },
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return { url: urlOf(host, bound), port: bound, close: () => closeServer(server, graceMs) };
}

function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, graceMs);
    // Drops idle connections at once; one that never sent a request does not count as idle.
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
