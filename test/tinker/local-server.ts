/** A Tinker server of the built-in model in this process, and a client of it; faults on the way if wanted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadRenderer } from "../../src/models/renderers/load.ts";
import type { TinkerClientOptions } from "../../src/tinker-api/client-options.ts";
import { createTinkerClient, type TinkerClient } from "../../src/tinker-api/client.ts";
import {
  createTinkerServer,
  type TinkerServer,
  type TinkerServerOptions,
} from "../../src/tinker-server/index.ts";

export const modelPath = fileURLToPath(new URL("../../models/shop-tiny", import.meta.url));
export const token = "tml-test";

export interface LocalServer extends AsyncDisposable {
  readonly server: TinkerServer;
  readonly folder: string;
  connect(options?: TinkerClientOptions): Promise<TinkerClient>;
}

export async function startServer(
  options: Partial<TinkerServerOptions> = {},
): Promise<LocalServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "tinker-"));
  const server = await createTinkerServer({
    modelPath,
    modelName: "shop-tiny",
    renderer: await loadRenderer(modelPath),
    token,
    threads: 2,
    precision: "f32",
    pollMs: 2000,
    ...options,
    folder,
  });
  return {
    server,
    folder,
    connect: (clientOptions = {}) =>
      createTinkerClient({
        baseUrl: "http://tinker.test",
        apiKey: token,
        fetch: fetchOf(server),
        ...clientOptions,
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export function fetchOf(server: TinkerServer): Fetch {
  return (input, init) => server.fetch(new Request(input, init));
}
