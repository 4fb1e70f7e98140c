/** A server that keeps what it is sent. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}

export interface HttpRecorder extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly Recorded[];
}

/** Responds with what `respond` returns: a status and a JSON body, or null for no response at all. */
export async function recordHttp(
  respond: (request: Recorded) => readonly [number, unknown] | null,
): Promise<HttpRecorder> {
  const requests: Recorded[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const text = Buffer.concat(pieces).toString();
      const recorded = {
        method: request.method ?? "",
        path: request.url ?? "",
        authorization: request.headers.authorization,
        body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      requests.push(recorded);
      const result = respond(recorded);
      if (result === null) return;
      response.writeHead(result[0], { "content-type": "application/json" });
      response.end(JSON.stringify(result[1]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
