/** A Tinker server: the embedded engine behind the Tinker API. */
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { getRequestListener } from "@hono/node-server";
import { ConfigError } from "../core/errors.ts";
import { defaultTrainingMemoryMiB } from "../engine/policy-engine.ts";
import { createApp } from "./app.ts";
import { CheckpointStore } from "./checkpoint-store.ts";
import { findEndTokens } from "./end-tokens.ts";
import { BaseModel } from "./model/base-model.ts";
import { defaultMaxBodyMiB, defaultMaxModels } from "./server-options.ts";
import type { TinkerServerOptions } from "./server-options.ts";
import { TinkerService } from "./service.ts";

export interface ListenOptions {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 takes a free one. @default 0 */
  readonly port?: number;
}

export interface TinkerServer extends AsyncDisposable {
  readonly modelName: string;
  /** Answers one request, with or without a socket. */
  fetch(request: Request): Promise<Response>;
  /** @returns the base URL for clients. @throws ConfigError when the address cannot be had. */
  listen(options?: ListenOptions): Promise<string>;
  /** Work in progress is given up; checkpoints stay. */
  close(): Promise<void>;
}

/** Loads the model. @throws ModelError */
export async function createTinkerServer(
  options: TinkerServerOptions,
  onError?: (error: unknown) => void,
): Promise<TinkerServer> {
  const { modelPath, renderer, folder } = options;
  const modelName = options.modelName ?? modelPath;
  await mkdir(folder, { recursive: true });
  const base = await BaseModel.load({
    path: modelPath,
    threads: options.threads ?? Math.max(2, Math.floor(availableParallelism() / 2)),
    memoryMiB: options.memoryMiB ?? defaultTrainingMemoryMiB,
  });
  const service = new TinkerService({
    base,
    renderer,
    endTokens: await findEndTokens(modelPath, renderer),
    modelName,
    store: new CheckpointStore(folder),
    limits: {
      maxRank: options.maxRank ?? 256,
      maxModels: options.maxModels ?? defaultMaxModels,
      sessionTimeoutMs: options.sessionTimeoutMs ?? 600_000,
      gapMs: options.gapMs ?? 10_000,
      samplers: options.maxSamplers ?? 32,
    },
  });
  const app = createApp(service, {
    token: options.token,
    pollMs: options.pollMs ?? 20_000,
    tokenizer: options.tokenizer ?? modelPath,
    maxBodyBytes: (options.maxBodyMiB ?? defaultMaxBodyMiB) * 2 ** 20,
    ...(onError === undefined ? {} : { onError }),
  });
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  let server: Server | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= closeServer(server).then(() => service[Symbol.asyncDispose]());
    return closing;
  };
  return {
    modelName,
    fetch,
    async listen({ host = "127.0.0.1", port = 0 } = {}) {
      server = await listen(fetch, host, port);
      const bound = (server.address() as AddressInfo).port;
      return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(
  fetch: (request: Request) => Promise<Response>,
  host: string,
  port: number,
): Promise<Server> {
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false, hostname: host });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  // Longer than clients keep idle connections, so that none is used stale.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new ConfigError({
          message: `The server cannot listen on ${host}:${port} (${cause.code}).`,
          hint: "Choose another port, or 0 for a free one.",
          cause,
          fields: { host, port },
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  return server;
}

async function closeServer(server: Server | undefined): Promise<void> {
  if (server === undefined) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
