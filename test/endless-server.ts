/** A server whose responses never end. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface EndlessServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: () => number;
}

export async function startEndlessServer(): Promise<EndlessServer> {
  let requests = 0;
  const piece = Buffer.alloc(2 ** 20, " ");
  const server = createServer((_request, response) => {
    requests += 1;
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more).writeHead(200, { "content-type": "application/json" });
    more();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
