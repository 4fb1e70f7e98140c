/** OpenEnv's sockets: one session each, or one that was begun over HTTP; one message at a time. */
import type { IncomingMessage, Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { OpenEnvSession, parse } from "./openenv-session.ts";
import type { OpenEnvSessions } from "./openenv-mcp.ts";
import type { ServedSource } from "./served-source.ts";

const maxBytes = 16 * 2 ** 20;
/** A socket whose client does not answer pings is closed after the second one. */
const pingMs = 20_000;

/** What a client says about itself. */
export interface ClientFacts {
  /** "" without one. */
  readonly key: string;
  /** With the host that it asked for. */
  readonly url: string;
  /** As browsers send it. */
  readonly origin: string | null | undefined;
}

/** Takes the sockets of a server, of the clients that are allowed. */
export function attachOpenEnv(
  server: Server,
  source: ServedSource,
  isAllowed: (client: ClientFacts) => boolean,
  sessions: OpenEnvSessions,
): { close(): void } {
  const sockets = new WebSocketServer({
    server,
    path: "/ws",
    maxPayload: maxBytes,
    verifyClient: ({ req }: { req: IncomingMessage }) => {
      const { "x-api-key": key, host, origin } = req.headers;
      const url = `http://${host ?? ""}`;
      return isAllowed({ key: typeof key === "string" ? key : "", url, origin });
    },
  });
  sockets.on("error", () => {});
  sockets.on("connection", (socket: WebSocket, request: IncomingMessage) => {
    const id = new URL(request.url ?? "", "http://localhost").searchParams.get("session_id");
    const session = id === null ? new OpenEnvSession(source) : sessions.attach(id);
    if (session === null) {
      const message = `There is no session ${id}, or another socket has it.`;
      socket.send(JSON.stringify({ type: "error", data: { message, code: "SESSION_ERROR" } }));
      socket.close();
      return;
    }
    let last: Promise<unknown> = Promise.resolve();
    let isAlive = true;
    const pings = setInterval(() => {
      if (!isAlive) socket.terminate();
      isAlive = false;
      socket.ping();
    }, pingMs);
    pings.unref();
    socket.on("pong", () => (isAlive = true));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(pings);
      if (id === null) void session.close();
      else session.isAttached = false;
    });
    socket.on("message", (data) => {
      const text = (data as Buffer).toString("utf8");
      const { type } = (parse(text) ?? {}) as { readonly type?: unknown };
      if (type === "close") {
        socket.close();
        return;
      }
      last = last.then(async () => {
        const answer = await session.answer(text);
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(answer));
      });
    });
  });
  return {
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}
