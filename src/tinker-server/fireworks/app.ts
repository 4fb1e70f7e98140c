/** The routes together: training and inference under the service's prefix, accounts at the root. */
import { Hono } from "hono";
import { isSameToken } from "../../http/keys.ts";
import { isForeign, localClientsOnly } from "../../http/local-clients.ts";
import { failureOf, RequestError, type WireFailure } from "../request-error.ts";
import { limitBodies } from "../routes/read-body.ts";
import { accountRoutes } from "./account-routes.ts";
import { checkpointRoutes } from "./checkpoint-routes.ts";
import { completionRoutes, type CompletionOptions } from "./completion-routes.ts";
import { accountError, gatewayError } from "./errors.ts";
import { onceByKey } from "./idempotency.ts";
import type { FireworksParts } from "./parts.ts";
import { sessionRoutes } from "./session-routes.ts";
import { trainingRoutes } from "./training-routes.ts";

const serverlessPrefix = "/training/v1/serverless";

export interface FireworksAppOptions extends CompletionOptions {
  readonly token: string | null;
}

/** Bodies that are worked on at the same time take at most so many times one body's limit. */
const bodiesTogether = 8;

/** What has an effect that a repeated request must not have again. */
const effects = [
  "create_session",
  "create_model",
  "forward",
  "forward_backward",
  "optim_step",
  "save_weights",
  "save_weights_for_sampler",
  "load_weights",
  "load_adapter",
  "unload_model",
];

export function createFireworksApp(parts: FireworksParts, options: FireworksAppOptions): Hono {
  const { token, onError } = options;
  const { service, maxBodyBytes } = parts;
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get(`${serverlessPrefix}/api/v1/healthz`, (c) => c.json({ status: "ok" }));
  app.use(async (c, next) => {
    const bearer = /^Bearer (.+)$/iu.exec(c.req.header("authorization") ?? "")?.[1];
    const key = c.req.header("x-api-key") ?? bearer ?? "";
    if (token !== null && !isSameToken(key, token))
      throw new RequestError(
        401,
        "The key in X-Api-Key or Authorization is not that of this server.",
      );
    if (token === null && isForeign(c.req.url, c.req.header("origin")))
      throw new RequestError(403, localClientsOnly);
    await next();
  });
  app.use(limitBodies({ each: maxBodyBytes, together: bodiesTogether * maxBodyBytes }));
  const once = onceByKey((id) => service.futures.ownerOf(id) === null);
  const training = new Hono();
  for (const route of effects) training.use(`/${route}`, once);
  training.route("/", sessionRoutes(parts));
  training.route("/", trainingRoutes(parts));
  training.route("/", checkpointRoutes(parts));
  app.route(`${serverlessPrefix}/api/v1`, training);
  app.route(`${serverlessPrefix}/inference/v1`, completionRoutes(parts, options));
  app.route("/v1", accountRoutes(parts));
  const respond = (path: string, failure: WireFailure): Response => {
    const body = path.startsWith("/v1/") ? accountError(failure) : gatewayError(failure);
    return Response.json(body, { status: failure.status });
  };
  app.notFound((c) =>
    respond(c.req.path, {
      status: 404,
      message: `There is no ${c.req.method} ${c.req.path} here. This server has the serverless API of Fireworks, under ${serverlessPrefix}.`,
    }),
  );
  app.onError((error, c) => respond(c.req.path, failureOf(error, onError)));
  return app;
}
