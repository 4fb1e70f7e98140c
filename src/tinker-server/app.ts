/** The routes together, with the key that opens them. A function from `Request` to `Response`. */
import { Hono } from "hono";
import { isSameToken } from "../http/keys.ts";
import { isForeign, localClientsOnly } from "../http/local-clients.ts";
import { failureOf, RequestError } from "./request-error.ts";
import { Archives } from "./routes/archive-routes.ts";
import { limitBodies } from "./routes/read-body.ts";
import { restRoutes } from "./routes/rest-routes.ts";
import { samplingRoutes } from "./routes/sampling-routes.ts";
import { serviceRoutes } from "./routes/service-routes.ts";
import { trainingRoutes } from "./routes/training-routes.ts";
import { weightsRoutes } from "./routes/weights-routes.ts";
import type { TinkerService } from "./service.ts";

export interface AppOptions {
  readonly token: string | null;
  readonly pollMs: number;
  readonly tokenizer: string;
  readonly maxBodyBytes: number;
  /** Failures that are this server's own. */
  readonly onError?: (error: unknown) => void;
}

/** Bodies that are worked on at the same time take at most so many times one body's limit. */
const bodiesTogether = 8;

export function createApp(service: TinkerService, options: AppOptions): Hono {
  const { token, pollMs, tokenizer, maxBodyBytes, onError } = options;
  const archives = new Archives(service.store);
  const app = new Hono().basePath("/api/v1");
  // What comes before the key needs none. It is known by its route: names of checkpoints are in paths, too.
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.route("/", archives.routes());
  app.use(async (c, next) => {
    if (token !== null && !isSameToken(c.req.header("x-api-key") ?? "", token))
      throw new RequestError(401, "The key in X-API-Key is not that of this server.");
    if (token === null && isForeign(c.req.url, c.req.header("origin")))
      throw new RequestError(403, localClientsOnly);
    await next();
  });
  app.use(limitBodies({ each: maxBodyBytes, together: bodiesTogether * maxBodyBytes }));
  app.route("/", serviceRoutes(service, pollMs));
  app.route("/", trainingRoutes(service, { tokenizer, maxBodyBytes }));
  app.route("/", weightsRoutes(service));
  app.route("/", samplingRoutes(service));
  app.route("/", restRoutes(service, archives));
  app.notFound((c) => c.json({ detail: `There is no ${c.req.method} ${c.req.path} here.` }, 404));
  app.onError((error) => {
    const { status, message } = failureOf(error, onError);
    return Response.json({ detail: message }, { status });
  });
  return app;
}
