/** The routes of a model server: calls by the name of the model, the list of models, feedback and metrics. */
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
import { feedbackMetrics } from "./feedback-metrics.ts";
import { joinMetrics } from "./join-metrics.ts";
import type { ServedModel } from "./model-host.ts";
import type { ServedCalls } from "./served-calls.ts";

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

export class ModelRoutes {
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
    const own = this.#calls === undefined ? "" : feedbackMetrics(this.#calls);
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
      throw new ApiError({ status: 400, message: "The body is not JSON.", cause, retry: false });
    }
    const list = (Array.isArray(given) ? given : [given]) as readonly FeedbackInput[];
    if (list.length > maxFeedback) {
      const message = `${list.length} pieces of feedback were sent, and ${maxFeedback} are the limit.`;
      throw new ApiError({ status: 413, message, retry: false });
    }
    return Response.json(await calls.addFeedback(list));
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
