/** Models at plain `/v1`, as OpenAI's and Anthropic's clients expect them. */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Listening } from "../../http/listen.ts";
import { defined } from "../../util/defined.ts";
import { follow } from "./follow.ts";
import { HandedOverModel, isHandedOver } from "./handed-over-model.ts";
import {
  adaptersOfModel,
  type HostOptions,
  ModelHost,
  type NamedModel,
  nameModel,
  type ServedModel,
} from "./model-host.ts";
import { checkKey, type ModelServerOptions } from "./serve-options.ts";
import { ServedCalls } from "./served-calls.ts";
import { ModelRoutes } from "./model-routes.ts";

/** Serves models over HTTP. Created by `createModelServer`. */
export interface ModelServer extends AsyncDisposable {
  /** Names of the models, as requests have to give them. */
  readonly models: readonly string[];
  /** The server as a function. Never rejects. */
  fetch(request: Request): Promise<Response>;
  /**
   * Once per server. `url` ends in `/v1`.
   * @throws ConfigError when the address cannot be had, or is not safe to have without a key.
   */
  listen(options?: {
    /** Another than this machine's own needs a key. @default "127.0.0.1" */
    readonly host?: string;
    /** 0 takes a free one. @default 0 */
    readonly port?: number;
  }): Promise<{ readonly url: string; readonly port: number }>;
  /** Refuses new calls and waits for those in flight; resolves with how many are left. */
  drain(limitMs: number): Promise<number>;
}

function checkNames(named: readonly { readonly name: string }[]): void {
  const names = named.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new ConfigError({
    message: `Two models would be served under the name ${twice}.`,
    hint: "Name them: NAME=MODEL (in code: { name, model }).",
    fields: { name: twice },
  });
}

function roleNames(model: NamedModel): { readonly name: string }[] {
  return Array.from(adaptersOfModel(model).keys(), (role) => ({ name: `${model.name}/${role}` }));
}

/**
 * Loads models and serves them with the APIs of OpenAI (chat completions, completions, responses) and
 * Anthropic (messages), streams and tools included. Calls are kept where `store` names a folder.
 *
 * @throws ConfigError, ModelError or CheckpointError for what cannot be served.
 *
 * @example
 * await using server = await createModelServer({ models: ["runs/shop/best"], key: "secret" });
 * const { url } = await server.listen({ port: 8100 });
 * const client = new OpenAI({ baseURL: url, apiKey: "secret" });
 */
export async function createModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const { models, key, followEveryMs = 1000 } = options;
  checkKey(key);
  if (models.length === 0) {
    throw new ConfigError({
      message: "There is no model to serve.",
      hint: "Name at least one: agent-trainer serve runs/shop",
      fields: { option: "models" },
    });
  }
  const specs = models.map((given) => (typeof given === "string" ? { model: given } : given));
  const named = await Promise.all(specs.map(nameModel));
  checkNames(named.flatMap((model) => [model, ...roleNames(model)]));
  const calls =
    options.store === undefined ? undefined : new ServedCalls(options.store, options.onWarning);
  const hosting: HostOptions = { ...options, ...defined({ calls }) };
  const opened: (ModelHost | HandedOverModel)[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(opened.map((one) => one[Symbol.asyncDispose]()));
    await calls?.[Symbol.asyncDispose]();
  };
  try {
    for (const model of named)
      opened.push(
        // Roles are names of a host, which must stay.
        options.follow === true && isHandedOver(model) && roleNames(model).length === 0
          ? await HandedOverModel.open(model, hosting)
          : await ModelHost.open(model, hosting),
      );
  } catch (error) {
    await closeAll();
    throw error;
  }
  const plain = opened.filter((one) => one instanceof ModelHost);
  const handedOver = opened.filter((one) => one instanceof HandedOverModel);
  const hosts = opened.flatMap<ServedModel>((one) => (one instanceof ModelHost ? one.all : one));
  const routes = new ModelRoutes(hosts, key, calls);
  const stop = new AbortController();
  const following = Promise.all([
    options.follow === true ? follow(plain, followEveryMs, stop.signal, options) : undefined,
    ...handedOver.map((model) => model.follow(followEveryMs, stop.signal)),
  ]);
  let server: Promise<Listening> | undefined;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stop.abort();
    await following;
    const bound = await server?.catch(() => undefined);
    await Promise.all([bound?.close(), closeAll()]);
  };
  return {
    models: hosts.map(({ name }) => name),
    fetch: (request) => routes.respond(request),
    async listen({ host = "127.0.0.1", port = 0 } = {}) {
      checkKey(key, host);
      if (server !== undefined || closing !== undefined) {
        throw new AgentTrainerError({
          code: "REQUEST_INVALID",
          message: "The server is listening already, or closed.",
        });
      }
      server = routes.listen(host, port);
      try {
        const bound = await server;
        return { url: `${bound.url}/v1`, port: bound.port };
      } catch (error) {
        server = undefined;
        throw error;
      }
    },
    async drain(limitMs) {
      const left = await Promise.all(hosts.map((host) => host.drain(limitMs)));
      return left.reduce((sum, count) => sum + count, 0);
    },
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}
