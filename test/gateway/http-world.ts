/** A gateway in front of servers that tests write as handlers. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpTarget } from "../../src/core/backend.ts";
import type { RolloutSession } from "../../src/core/session.ts";
import { createGateway, type Gateway } from "../../src/gateway/index.ts";
import { createByteRenderer } from "../../src/testing/index.ts";

export const renderer = createByteRenderer();

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
}

export async function serveHttp(handler: RequestListener): Promise<TestServer> {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** What a server of OpenAI's protocol without extras answers to everything but calls. */
export function responseProbe(...[request, response]: Parameters<RequestListener>): boolean {
  if (request.method === "POST") return false;
  if (request.url !== "/v1/models") response.writeHead(404).end();
  else {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data: [{ id: "m" }] }));
  }
  return true;
}

export interface HttpWorld extends AsyncDisposable {
  readonly gateway: Gateway;
  /** The JSON that an admin route answers. */
  admin(method: string, path: string, body?: object): Promise<unknown>;
  readonly session: RolloutSession;
  /** A call of this session, or of one that is opened for it by this uid. */
  post(body: object, options?: PostOptions): Promise<Response>;
}

export interface PostOptions {
  /** @default "chat/completions" */
  readonly path?: string;
  readonly uid?: string;
  readonly signal?: AbortSignal;
}

export interface WorldOptions extends Omit<HttpTarget, "kind"> {
  /** @default 10_000 */
  readonly requestTimeoutMs?: number;
}

export async function openWorld(options: WorldOptions): Promise<HttpWorld> {
  const { requestTimeoutMs = 10_000, ...target } = options;
  const gateway = createGateway({
    target: { kind: "http", retryDelayMs: 1, ...target },
    model: "scripted",
    requestTimeoutMs,
  });
  const { url } = await gateway.listen();
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  return {
    gateway,
    admin: async (method, path, body) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${gateway.adminToken}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return response.json();
    },
    session,
    post: async (body, { path = "chat/completions", uid, signal } = {}) => {
      const open = { seed: 1, sampling: {} };
      const own = uid === undefined ? session : await gateway.sessions.open({ uid, ...open });
      return fetch(`${own.baseUrl}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${own.apiKey}` },
        body: JSON.stringify(body),
        ...(signal ? { signal } : {}),
      });
    },
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}
