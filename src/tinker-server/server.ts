/** The embedded engine behind the Tinker API. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { availableParallelism } from "node:os";
import type { Hono } from "hono";
import { ConfigError } from "../core/errors.ts";
import { defaultTrainingMemoryMiB } from "../engine/policy-engine.ts";
import { fetchServer, listen, type Listening } from "../http/listen.ts";
import type { Renderer } from "../core/policy.ts";
import { defined } from "../util/defined.ts";
import { readJsonFile } from "../util/files/json-file.ts";
import { createApp } from "./app.ts";
import { CheckpointStore } from "./checkpoints/checkpoint-store.ts";
import { BaseModel } from "./model/base-model.ts";
import { defaultMaxBodyMiB, defaultMaxModels, type TinkerServerOptions } from "./server-options.ts";
import { TinkerService, type ServiceParts } from "./service.ts";

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
  const service = await createService(options);
  const app = createApp(service, {
    token: options.token,
    pollMs: options.pollMs ?? defaultPollMs,
    tokenizer: options.tokenizer ?? options.modelPath,
    maxBodyBytes: maxBodyBytesOf(options),
    ...defined({ onError }),
  });
  return serveApp(service, app);
}

const defaultPollMs = 20_000;

function maxBodyBytesOf({ maxBodyMiB = defaultMaxBodyMiB }: TinkerServerOptions): number {
  return maxBodyMiB * 2 ** 20;
}

/** How the wire of another service differs. */
type Wire = Pick<ServiceParts, "newSessionId" | "unreadInForward">;

/** What answers requests, whichever wire they come over. @throws ModelError */
export async function createService(
  options: TinkerServerOptions,
  wire: Wire = {},
): Promise<TinkerService> {
  const { modelPath, renderer, folder } = options;
  const modelName = options.modelName ?? modelPath;
  await mkdir(folder, { recursive: true });
  const base = await BaseModel.load({
    path: modelPath,
    threads: options.threads ?? Math.max(2, Math.floor(availableParallelism() / 2)),
    precision: options.precision ?? "auto",
    memoryMiB: options.memoryMiB ?? defaultTrainingMemoryMiB,
  });
  return new TinkerService({
    ...wire,
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
}

/** Tokens that end a sequence when a request names none: those of the model's own files. */
async function findEndTokens(modelPath: string, renderer: Renderer): Promise<readonly number[]> {
  for (const file of ["generation_config.json", "config.json"]) {
    const json = (await readJsonFile(join(modelPath, file)).catch(() => null)) as {
      eos_token_id?: number | readonly number[] | null;
    } | null;
    const ids = json?.eos_token_id;
    if (typeof ids === "number") return [ids];
    if (Array.isArray(ids)) return ids as readonly number[];
  }
  return renderer.stop.tokenIds;
}

export function serveApp(service: TinkerService, app: Hono): TinkerServer {
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  let starting: Promise<Listening> | undefined;
  let closing: Promise<void> | undefined;
  const shutDown = async (): Promise<void> => {
    await (await starting?.catch(() => undefined))?.close();
    await service[Symbol.asyncDispose]();
  };
  const close = (): Promise<void> => (closing ??= shutDown());
  return {
    modelName: service.modelName,
    fetch,
    async listen({ host = "127.0.0.1", port = 0 } = {}) {
      if (starting !== undefined) {
        throw new ConfigError({
          message: "The server listens already.",
          hint: "Call listen() once, or create another server.",
        });
      }
      starting = listen(fetchServer(fetch, host), { name: "The server", host, port });
      starting.catch(() => (starting = undefined));
      return (await starting).url;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
