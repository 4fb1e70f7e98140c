/** A server of OpenEnv as recorded from openenv 0.10: one environment per socket, one message in flight. */
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";

type Fields = Readonly<Record<string, unknown>>;

export interface OpenEnvWireOptions {
  /** @default 1 */
  readonly capacity?: number;
  /** JSON Schema of an action. @default one text, `message` */
  readonly action?: Fields;
  /** @default an environment without tools */
  readonly tools?: readonly Fields[];
  /** Tasks by split, for servers that list them. @default the server lists none */
  readonly tasks?: Readonly<Record<string, unknown>>;
  /** What a step responds; null closes the socket. @default echoes, with reward 1 and the end */
  readonly step?: (data: Fields, count: number) => object | null;
  /** Takes over a message; true when it did. */
  readonly handle?: (
    message: { readonly type: string; readonly data: Fields },
    socket: WebSocket,
    bytes: Socket,
  ) => boolean;
}

export interface OpenEnvWireServer extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Fields[];
  /** Most environments at a time. */
  readonly peak: () => number;
  close(): Promise<void>;
}

const echo = { properties: { metadata: { type: "object" }, message: { type: "string" } } };

export async function startOpenEnvServer(
  options: OpenEnvWireOptions = {},
): Promise<OpenEnvWireServer> {
  const { capacity = 1, action = echo, tools } = options;
  const received: Fields[] = [];
  let running = 0;
  let peak = 0;
  const http = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      const { tasks } = options;
      const value =
        request.url === "/schema"
          ? { action, observation: {}, state: {} }
          : tasks !== undefined && request.url === "/list_environments"
            ? ["shop"]
            : tasks !== undefined && request.url === "/shop/tasks"
              ? { tasks: tasks[(JSON.parse(body) as { split: string }).split] }
              : null;
      response.writeHead(value === null ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(value ?? {}));
    });
  });
  const sockets = new WebSocketServer({ server: http, path: "/ws" });
  const error = (socket: WebSocket, code: string, message: string): void =>
    socket.send(JSON.stringify({ type: "error", data: { code, message } }));
  sockets.on("connection", (socket, request) => {
    if (running >= capacity) {
      error(socket, "CAPACITY_REACHED", "Server at capacity");
      socket.close();
      return;
    }
    peak = Math.max(peak, ++running);
    socket.on("close", () => running--);
    let steps = 0;
    socket.on("message", (bytes) => {
      const message = JSON.parse((bytes as Buffer).toString()) as { type: string; data: Fields };
      received.push(message);
      if (options.handle?.(message, socket, request.socket) === true) return;
      const observe = (data: object): void =>
        socket.send(JSON.stringify({ type: "observation", data }));
      const { type, data } = message;
      if (type === "reset") {
        const observation = { message: `Seed ${String(data["seed"])}`, metadata: {} };
        observe({ observation, reward: null, done: false });
      } else if (type === "mcp") {
        const body =
          tools === undefined
            ? { error: { code: -32603, message: "Environment does not support MCP" } }
            : { result: { tools } };
        socket.send(JSON.stringify({ type: "mcp", data: { jsonrpc: "2.0", id: 1, ...body } }));
      } else if (type === "step") {
        steps++;
        if (options.step === undefined) {
          const observation = { message: `Echo: ${String(data["message"])}`, metadata: {} };
          observe({ observation, reward: 1, done: true });
          return;
        }
        const answer = options.step(data, steps);
        if (answer === null) socket.terminate();
        else socket.send(JSON.stringify(answer));
      } else if (type === "close") socket.close();
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const close = async (): Promise<void> => {
    for (const socket of sockets.clients) socket.terminate();
    const closed = new Promise((resolve) => http.close(resolve));
    http.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    peak: () => peak,
    close,
    [Symbol.asyncDispose]: close,
  };
}
