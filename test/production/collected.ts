/** A receiver on a socket with a store in a temporary folder, for tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchServer, listen } from "../../src/http/listen.ts";
import { createReceiver, type ReceiverOptions } from "../../src/production/receiver/receiver.ts";
import {
  ProductionStore,
  readFeedback,
  readSpans,
} from "../../src/production/store/production-store.ts";

export async function startReceiver(
  options: Partial<ReceiverOptions> & { maxBytes?: number } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "collected-"));
  const { maxBytes, ...rest } = options;
  const store = new ProductionStore(folder, maxBytes === undefined ? {} : { maxBytes });
  const receiver = createReceiver({ store, key: null, ...rest });
  const server = await listen(fetchServer(receiver.fetch, "127.0.0.1"), {
    name: "The receiver",
    host: "127.0.0.1",
    port: 0,
  });
  return {
    ...receiver,
    folder,
    url: server.url,
    spans: () => [...readSpans(folder)],
    feedback: () => [...readFeedback(folder)],
    async [Symbol.asyncDispose]() {
      await server.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
