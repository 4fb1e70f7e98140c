/** A server of the Model Context Protocol over HTTP, with faults on purpose. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Fields = Readonly<Record<string, unknown>>;

export interface McpHttpOptions {
  /** Takes over the response to a call; true when it did. `message` is what should be sent. */
  readonly handle?: (response: ServerResponse, message: object, args: Fields) => boolean;
}

export interface McpHttpServer extends AsyncDisposable {
  readonly url: string;
  close(): Promise<void>;
}

export async function startMcpServer(options: McpHttpOptions = {}): Promise<McpHttpServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") {
        response.writeHead(405).end();
        return;
      }
      const {
        id,
        method,
        params = {},
      } = JSON.parse(Buffer.concat(chunks).toString()) as {
        readonly id?: unknown;
        readonly method: string;
        readonly params?: Fields;
      };
      if (id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const send = (result: object): void => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      };
      if (method === "initialize") {
        send({
          protocolVersion: params["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "http", version: "1" },
        });
      } else if (method === "tools/list") {
        send({ tools: [{ name: "count", inputSchema: { type: "object" } }] });
      } else if (method === "tools/call") {
        const args = (params["arguments"] ?? {}) as Fields;
        const result = { content: [{ type: "text", text: JSON.stringify(args) }] };
        if (options.handle?.(response, { jsonrpc: "2.0", id, result }, args) !== true) send(result);
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        const error = { code: -32_601, message: `No ${method}` };
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close,
    [Symbol.asyncDispose]: close,
  };
}
