/** A server for a custom environment, so that other trainers can use it, too. */
import type { Hono } from "hono";
import { ConfigError } from "../../core/errors.ts";
import { isSameToken } from "../../http/keys.ts";
import { fetchServer, listen } from "../../http/listen.ts";
import { isForeign, isLoopback, localClientsOnly } from "../../http/local-clients.ts";
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
  const server = fetchServer(withKey(ors.app, apiKey, isAllowed), host);
  const listening = await listen(server, {
    name: "The environment server",
    host,
    port,
  });
  const sockets = attachOpenEnv(server, source, isAllowed, sessions);
  const close = async (): Promise<void> => {
    sockets.close();
    await sessions.close();
    await ors.close();
    await listening.close();
  };
  return {
    url: listening.url,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whether a client has the key; without a key, whether it is a program of this machine. */
function clientCheck(apiKey: string | undefined): (client: ClientFacts) => boolean {
  if (apiKey === undefined) return ({ url, origin }) => !isForeign(url, origin);
  return ({ key }) => isSameToken(key, apiKey);
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
