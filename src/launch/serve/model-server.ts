/** Models at plain `/v1`, as OpenAI's and Anthropic's clients expect them. */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import { refuseBrowsers } from "../../gateway/app.ts";
import { checkLimits } from "../../gateway/gateway-options.ts";
import { ApiError, methodNotAllowed } from "../../gateway/http/api-error.ts";
import { requireToken } from "../../gateway/http/auth.ts";
import { BodyBudget } from "../../gateway/http/body-budget.ts";
import { readBodyText } from "../../gateway/http/body.ts";
import { errorResponse, errorShapeOf } from "../../gateway/http/error-response.ts";
import { show, checkStructure } from "../../gateway/http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { serve } from "../../gateway/http/serve.ts";
import { tokenDigest } from "../../http/keys.ts";
import type { Listening } from "../../http/listen.ts";
import { findProtocol } from "../../gateway/routes/protocols.ts";
import type { FeedbackInput } from "../../production/store/feedback.ts";
import { defined } from "../../util/defined.ts";
import { CanaryModel } from "./canary/canary-model.ts";
import { openCanary, originOf } from "./canary/open-canary.ts";
import { findCandidates } from "./canary/find-candidates.ts";
import { feedbackMetrics } from "./feedback-metrics.ts";
import { follow } from "./follow.ts";
import { HandedOverModel, isHandedOver } from "./handed-over-model.ts";
import { joinMetrics } from "./join-metrics.ts";
import {
  adaptersOfModel,
  type HostOptions,
  ModelHost,
  type NamedModel,
  nameModel,
  type ServedModel,
} from "./model-host.ts";
import { checkCanary, checkKey, type ModelServerOptions } from "./serve-options.ts";
import { ServedCalls } from "./served-calls.ts";

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

/** In one request. */
const maxFeedback = 1000;

const offered =
  "POST /v1/chat/completions, /v1/completions, /v1/responses, /v1/messages and /v1/messages/count_tokens, GET /v1/models, and POST /feedback";

/** In the shapes of both OpenAI and Anthropic. */
function toWireModel({ name }: ServedModel): object {
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
  readonly #hosts: readonly ServedModel[];
  readonly #calls: ServedCalls | undefined;
  readonly #digest: Buffer | null;
  readonly #limits = checkLimits({} as Parameters<typeof checkLimits>[0]);
  readonly #budget = new BodyBudget(this.#limits);

  constructor(
    hosts: readonly ServedModel[],
    key: string | undefined,
    calls: ServedCalls | undefined,
  ) {
    this.#hosts = hosts;
    this.#calls = calls;
    this.#digest = key === undefined ? null : tokenDigest(key);
  }

  get #canaries(): readonly CanaryModel[] {
    return this.#hosts.filter((host) => host instanceof CanaryModel);
  }

  #host(name: unknown): ServedModel {
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
    const own = this.#calls === undefined ? "" : feedbackMetrics(this.#calls, this.#canaries);
    return new Response(joinMetrics(new Map(texts)) + own, { headers });
  }

  #models(): Response {
    const data = this.#hosts.map(toWireModel);
    const [first, last] = [this.#hosts[0], this.#hosts.at(-1)];
    const page = { has_more: false, first_id: first?.name ?? null, last_id: last?.name ?? null };
    return Response.json({ object: "list", data, ...page });
  }

  async #body(request: Request): Promise<string> {
    if (request.method !== "POST") throw methodNotAllowed(request, "POST");
    const lease = await this.#budget.admit("", request);
    try {
      return await readBodyText(request, this.#limits);
    } finally {
      lease.end();
    }
  }

  /** One piece of feedback, or a list: all of it is on the disk when the response begins, or none is kept. */
  async #feedback(request: Request): Promise<Response> {
    const body = await this.#body(request);
    const calls = this.#calls;
    if (calls === undefined) {
      throw new ApiError({
        status: 404,
        message: "This server keeps no feedback: start it with --store FOLDER (in code: store).",
        reason: "not_found",
        retry: false,
      });
    }
    checkStructure(body);
    let given: unknown;
    try {
      given = JSON.parse(body);
    } catch (cause) {
      throw new ApiError({ status: 400, message: "The body is no JSON.", cause, retry: false });
    }
    const list = (Array.isArray(given) ? given : [given]) as readonly FeedbackInput[];
    if (list.length > maxFeedback) {
      const message = `${list.length} pieces of feedback were sent, and ${maxFeedback} are the limit.`;
      throw new ApiError({ status: 413, message, retry: false });
    }
    const reply = await calls.addFeedback(list);
    for (const canary of this.#canaries) void canary.decide();
    return Response.json(reply);
  }

  async #call(path: string, request: Request): Promise<Response> {
    const body = await this.#body(request);
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
    if (root === "feedback" && rest.length === 0) return this.#feedback(request);
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

function roleNames(model: NamedModel): { readonly name: string }[] {
  return Array.from(adaptersOfModel(model).keys(), (role) => ({ name: `${model.name}/${role}` }));
}

function rolesOfCanary({ name }: NamedModel): ConfigError {
  return new ConfigError({
    message: `A canary tries one model, but roles of ${name} have separate adapters (model.adapter_by_role).`,
    hint: "Serve it without a canary, or merge one adapter into the base: agent-trainer model merge RUN --adapter NAME --into OUT",
    fields: { option: "canary", name },
  });
}

/**
 * Loads models and serves them with the APIs of OpenAI (chat completions, completions, responses) and
 * Anthropic (messages), streams and tools included. Calls are kept where `store` names a folder. With a `canary`,
 * a candidate is tried on a share of conversations, and promoted or rolled back by the feedback on it.
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
  const rule = options.canary && checkCanary(options.canary, options);
  const split = named.find((model) => rule !== undefined && roleNames(model).length > 0);
  if (split !== undefined) throw rolesOfCanary(split);
  const calls =
    options.store === undefined ? undefined : new ServedCalls(options.store, options.onWarning);
  const hosting: HostOptions = { ...options, ...defined({ calls }) };
  const plain: ModelHost[] = [];
  const canaries: CanaryModel[] = [];
  const handedOver: HandedOverModel[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(
      [...plain, ...handedOver, ...canaries].map((one) => one[Symbol.asyncDispose]()),
    );
    await calls?.[Symbol.asyncDispose]();
  };
  try {
    for (const model of named)
      if (calls === undefined || rule === undefined) {
        // Roles are names of a host, which must stay.
        if (options.follow === true && isHandedOver(model) && roleNames(model).length === 0)
          handedOver.push(await HandedOverModel.open(model, hosting));
        else plain.push(await ModelHost.open(model, hosting));
      } else canaries.push(await openCanary(model, { calls, rule, host: hosting }));
  } catch (error) {
    await closeAll();
    throw error;
  }
  const hosts = [...plain.flatMap((host) => host.all), ...handedOver, ...canaries];
  const routes = new Routes(hosts, key, calls);
  const stop = new AbortController();
  const following = Promise.all([
    options.follow === true ? follow(plain, followEveryMs, stop.signal, options) : undefined,
    ...handedOver.map((model) => model.follow(followEveryMs, stop.signal)),
    ...canaries.map((canary) => {
      const model = options.canary?.candidate ?? originOf(named[0] as NamedModel);
      const onWarning = options.onWarning ?? (() => {});
      const source = { model, follow: options.follow === true, everyMs: followEveryMs, onWarning };
      return findCandidates(canary, source, stop.signal);
    }),
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
