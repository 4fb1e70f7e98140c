/** Models at plain `/v1`, as OpenAI's and Anthropic's clients expect them. */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import { refuseBrowsers } from "../../gateway/app.ts";
import { checkLimits } from "../../gateway/gateway-options.ts";
import { ApiError, methodNotAllowed } from "../../gateway/http/api-error.ts";
import { requireToken } from "../../gateway/http/auth.ts";
import { BodyBudget } from "../../gateway/http/body-budget.ts";
import { readBodyText } from "../../gateway/http/body.ts";
import { errorResponse, errorShapeOf } from "../../gateway/http/error-response.ts";
import {
  isJsonObject,
  type JsonFields,
  show,
  checkStructure,
} from "../../gateway/http/json-fields.ts";
import { serve } from "../../gateway/http/serve.ts";
import { tokenDigest } from "../../http/keys.ts";
import type { Listening } from "../../http/listen.ts";
import { findProtocol } from "../../gateway/routes/protocols.ts";
import { follow } from "./follow.ts";
import { joinMetrics } from "./join-metrics.ts";
import { ModelHost, nameModel } from "./model-host.ts";
import { checkKey, type ModelServerOptions } from "./serve-options.ts";

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

const offered =
  "POST /v1/chat/completions, /v1/completions, /v1/responses, /v1/messages and /v1/messages/count_tokens, and GET /v1/models";

/** In the shapes of both OpenAI and Anthropic. */
function toWireModel({ name }: ModelHost): object {
  return {
    id: name,
    object: "model",
    created: 0,
    owned_by: "agent-trainer",
    type: "model",
    display_name: name,
    created_at: new Date(0).toISOString(),
  };
}

class Routes {
  readonly #hosts: readonly ModelHost[];
  readonly #digest: Buffer | null;
  readonly #limits = checkLimits({} as Parameters<typeof checkLimits>[0]);
  readonly #budget = new BodyBudget(this.#limits);

  constructor(hosts: readonly ModelHost[], key: string | undefined) {
    this.#hosts = hosts;
    this.#digest = key === undefined ? null : tokenDigest(key);
  }

  #host(name: unknown): ModelHost {
    const found =
      name === undefined || name === null
        ? this.#hosts[0]
        : this.#hosts.find((host) => host.name === name);
    if (found !== undefined) return found;
    throw new ApiError({
      status: 404,
      message: `There is no model ${show(name)} here. Models: ${this.#hosts.map((host) => host.name).join(", ")}.`,
      reason: "model_not_found",
      param: "model",
      retry: false,
    });
  }

  async #metrics(): Promise<Response> {
    const texts = await Promise.all(
      this.#hosts.map(async (host) => [host.name, await host.metrics()] as const),
    );
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response(joinMetrics(new Map(texts)), { headers });
  }

  #models(): Response {
    const data = this.#hosts.map(toWireModel);
    const [first, last] = [this.#hosts[0], this.#hosts.at(-1)];
    const page = { has_more: false, first_id: first?.name ?? null, last_id: last?.name ?? null };
    return Response.json({ object: "list", data, ...page });
  }

  async #call(path: string, request: Request): Promise<Response> {
    if (request.method !== "POST") throw methodNotAllowed(request, "POST");
    const lease = await this.#budget.admit("", request);
    let body: string;
    try {
      body = await readBodyText(request, this.#limits);
    } finally {
      lease.end();
    }
    let fields: JsonFields = {};
    try {
      checkStructure(body);
      const parsed: unknown = JSON.parse(body);
      if (isJsonObject(parsed)) fields = parsed;
    } catch {
      // The route of the protocol refuses it, in the words of the protocol.
    }
    const { headers, signal } = request;
    return this.#host(fields["model"]).respond({ path, body, fields, headers, signal });
  }

  async #route(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const segments = pathname.split("/").filter((segment) => segment !== "");
    if (segments.join("/") === "health") return Response.json({ status: "ok" });
    if (this.#digest === null) refuseBrowsers(request);
    else requireToken(request, this.#digest);
    const [root, ...rest] = segments;
    if (root === "metrics" && rest.length === 0) return this.#metrics();
    // Anthropic's clients add "/v1" to a base URL that may end in it.
    const own = rest[0] === "v1" ? rest.slice(1) : rest;
    if (root === "v1" && own[0] === "models") {
      if (own.length === 1) return this.#models();
      const name = own.slice(1).map(decodeURIComponent).join("/");
      return Response.json(toWireModel(this.#host(name)));
    }
    if (root === "v1" && findProtocol(own) !== undefined) return this.#call(own.join("/"), request);
    throw new ApiError({
      status: 404,
      message: `There is nothing at ${show(pathname)}. This server offers ${offered}.`,
      reason: "not_found",
      retry: false,
    });
  }

  async respond(request: Request): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (error) {
      const known =
        error instanceof URIError
          ? new ApiError({ status: 400, message: "The URL is not valid.", reason: "bad_url" })
          : error;
      return errorResponse(known, errorShapeOf(request.url));
    }
  }

  listen(host: string, port: number): Promise<Listening> {
    return serve((request) => this.respond(request), { ...this.#limits, host, port });
  }
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

/**
 * Loads models and serves them with the APIs of OpenAI (chat completions, completions, responses) and
 * Anthropic (messages), streams and tools included. Nothing is captured.
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
  checkNames(named);
  const hosts: ModelHost[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
  };
  try {
    for (const model of named) hosts.push(await ModelHost.open(model, options));
  } catch (error) {
    await closeAll();
    throw error;
  }
  const all = hosts.flatMap((host) => host.all);
  try {
    checkNames(all);
  } catch (error) {
    await closeAll();
    throw error;
  }
  const routes = new Routes(all, key);
  const stop = new AbortController();
  const following =
    options.follow === true ? follow(hosts, followEveryMs, stop.signal, options) : undefined;
  let server: Promise<Listening> | undefined;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stop.abort();
    await following;
    const bound = await server?.catch(() => undefined);
    await Promise.all([bound?.close(), closeAll()]);
  };
  return {
    models: all.map(({ name }) => name),
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
      const left = await Promise.all(all.map((host) => host.drain(limitMs)));
      return left.reduce((sum, count) => sum + count, 0);
    },
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}
