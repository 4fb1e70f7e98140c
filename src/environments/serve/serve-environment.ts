/** A server for a custom environment, so that other trainers can use it, too. */
import { serve, type ServerType } from "@hono/node-server";
import { timingSafeEqual } from "node:crypto";
import type { Server } from "node:http";
import type { Hono } from "hono";
import { ConfigError } from "../../core/errors.ts";
import { isForeign, isLoopback, localClientsOnly } from "../../util/local-clients.ts";
import { attachOpenEnv, type ClientFacts } from "./openenv-sockets.ts";
import { OpenEnvSessions } from "./openenv-mcp.ts";
import { createOrsApp } from "./ors-app.ts";
import type { ServedSource } from "./served-source.ts";

/** Options of {@link serveEnvironment}. */
export interface ServeEnvironmentOptions {
  /** 0 picks a free port. @default 8080 */
  readonly port?: number;
  /** Address to listen on. @default "127.0.0.1" */
  readonly host?: string;
  /** Clients must send it as `X-API-Key`. @default none, which only loopback addresses may have */
  readonly apiKey?: string;
}

/** A running server. */
export interface EnvironmentServer {
  /** Address: "http://127.0.0.1:8080". */
  readonly url: string;
  /** Ends all sessions and the server. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves an environment over the Open Reward Standard (HTTP and server-sent events) and over OpenEnv
 * (WebSocket, and tools in JSON-RPC at `/mcp`): for `env: "ors:URL"` or `"openenv:URL"`, and for other
 * trainers that speak one of them.
 *
 * @throws ConfigError when the port is in use, or an address beyond this machine has no `apiKey`.
 */
export async function serveEnvironment(
  source: ServedSource,
  { port = 8080, host = "127.0.0.1", apiKey }: ServeEnvironmentOptions = {},
): Promise<EnvironmentServer> {
  if (apiKey === undefined && !isLoopback(host)) {
    throw new ConfigError({
      message: `serveEnvironment() would listen on ${host}, which other machines can reach, without apiKey.`,
      hint: "Pass apiKey, or leave host at 127.0.0.1.",
      fields: { host },
    });
  }
  const ors = createOrsApp(source);
  const sessions = new OpenEnvSessions(source);
  ors.app.post("/mcp", async (c) =>
    c.json(await sessions.answer(await c.req.json().catch(() => undefined))),
  );
  const isAllowed = clientCheck(apiKey);
  const server = await listen(withKey(ors.app, apiKey, isAllowed), port, host);
  const sockets = attachOpenEnv(server as Server, source, isAllowed, sessions);
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  const close = async (): Promise<void> => {
    sockets.close();
    await sessions.close();
    await ors.close();
    const closed = new Promise((resolve) => server.close(resolve));
    if ("closeAllConnections" in server) server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whether a client has the key; without a key, whether it is a program of this machine. */
function clientCheck(apiKey: string | undefined): (client: ClientFacts) => boolean {
  if (apiKey === undefined) return ({ url, origin }) => !isForeign(url, origin);
  const wanted = Buffer.from(apiKey);
  return ({ key }) => {
    const given = Buffer.from(key);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  };
}

/** The routes, for those who may use them. */
function withKey(
  app: Hono,
  apiKey: string | undefined,
  isAllowed: (client: ClientFacts) => boolean,
): (request: Request) => Response | Promise<Response> {
  return (request) => {
    const { url, headers } = request;
    const key = headers.get("x-api-key") ?? "";
    if (isAllowed({ key, url, origin: headers.get("origin") })) return app.fetch(request);
    return apiKey === undefined
      ? Response.json({ detail: localClientsOnly }, { status: 403 })
      : Response.json({ detail: "X-API-Key is missing or wrong" }, { status: 401 });
  };
}

async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  port: number,
  host: string,
): Promise<ServerType> {
  return await new Promise((resolve, reject) => {
    const server = serve({ fetch, port, hostname: host }, () => resolve(server));
    server.once("error", (error) => {
      reject(
        new ConfigError({
          message: `Cannot listen on ${host}:${port}: ${error.message}`,
          hint: "Choose another port; 0 picks a free one.",
          cause: error,
          fields: { host, port },
        }),
      );
    });
  });
}
