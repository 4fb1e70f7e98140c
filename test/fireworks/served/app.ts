/** Fireworks' serverless API with the embedded engine behind it, for tests of the client: training and inference. */
import { Hono } from "hono";
import { isSameToken } from "../../../src/http/keys.ts";
import { isForeign, localClientsOnly } from "../../../src/http/local-clients.ts";
import {
  failureOf,
  RequestError,
  type WireFailure,
} from "../../../src/tinker-server/request-error.ts";
import { limitBodies } from "../../../src/tinker-server/routes/read-body.ts";
import { checkpointRoutes } from "./checkpoint-routes.ts";
import { completionRoutes, type CompletionOptions } from "./completion-routes.ts";
import { gatewayError } from "./errors.ts";
import type { FireworksParts } from "./parts.ts";
import { sessionRoutes } from "./session-routes.ts";
import { trainingRoutes } from "./training-routes.ts";

const serverlessPrefix = "/training/v1/serverless";

export interface FireworksAppOptions extends CompletionOptions {
  readonly token: string | null;
}

/** Bodies that are worked on at the same time take at most so many times one body's limit. */
const bodiesTogether = 8;

export function createFireworksApp(parts: FireworksParts, options: FireworksAppOptions): Hono {
  const { token, onError } = options;
  const { maxBodyBytes } = parts;
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
  const training = new Hono();
  training.route("/", sessionRoutes(parts));
  training.route("/", trainingRoutes(parts));
  training.route("/", checkpointRoutes(parts));
  app.route(`${serverlessPrefix}/api/v1`, training);
  app.route(`${serverlessPrefix}/inference/v1`, completionRoutes(parts, options));
  app.get("/v1/accounts", (c) => c.json({ accounts: [{ name: `accounts/${parts.account}` }] }));
  const respond = (failure: WireFailure): Response =>
    Response.json(gatewayError(failure), { status: failure.status });
  app.notFound((c) =>
    respond({
      status: 404,
      message: `There is no ${c.req.method} ${c.req.path} here. This server has the serverless API of Fireworks, under ${serverlessPrefix}.`,
    }),
  );
  app.onError((error) => respond(failureOf(error, onError)));
  return app;
}
