/** Counts model calls between an agent and the gateway, for agents whose calls other processes make. */
import { once } from "node:events";
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";

export interface CallCounter extends AsyncDisposable {
  /** What agents are told to call. */
  readonly url: string;
  /** Model calls so far. */
  readonly calls: number;
  /** Where all requests go. */
  target: string;
}

const isCall = (path: string): boolean =>
  /\/v1\/(?:chat\/completions|responses|messages)(?:\?|$)/u.test(path);

/** Listens on this machine; `target` is to be set before the first request. */
export async function startCallCounter(): Promise<CallCounter> {
  const counter = { calls: 0, target: "" };
  const server = createServer((incoming, response) => {
    const { method, url = "/", headers } = incoming;
    if (method === "POST" && isCall(url)) counter.calls++;
    // A connection for each request: one that is used again may have been closed meanwhile.
    const { connection: _connection, ...rest } = headers;
    const options = { method, headers: rest, agent: false as const };
    const outgoing = forward(new URL(url, counter.target), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    outgoing.once("error", () => response.destroy());
    response.once("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(counter, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}
