/** MLflow's responses are read up to a limit: a server that never stops sending ends the request by name. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { mlflowRequests } from "../../src/trackers/mlflow/api.ts";

it("is refused once when it never ends", async () => {
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
  const { port } = server.address() as AddressInfo;
  const request = mlflowRequests({ url: `http://127.0.0.1:${port}`, authorization: null });
  try {
    await expect(request("GET", "runs/get", {}, new AbortController().signal)).rejects.toThrow(
      "MLflow responded to runs/get with more than 16 MiB.",
    );
    expect(requests).toBe(1);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});
