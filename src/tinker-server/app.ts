/** The routes together, with the key that opens them. A function from `Request` to `Response`. */
import { createHash, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { TinkerWireError } from "../tinker-api/tinker-error.ts";
import { RequestError } from "./request-error.ts";
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
  /** Failures that are this server's own. */
  readonly onError?: (error: unknown) => void;
}

/** In constant time, whatever the lengths. */
function isEqual(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

function isOpen(path: string): boolean {
  return path.endsWith("/healthz") || path.includes("/archives/");
}

export function createApp(service: TinkerService, options: AppOptions): Hono {
  const { token, pollMs, tokenizer, onError } = options;
  const app = new Hono().basePath("/api/v1");
  app.use(async (c, next) => {
    if (token !== null && !isOpen(c.req.path) && !isEqual(c.req.header("x-api-key") ?? "", token))
      throw new RequestError(401, "The key in X-API-Key is not that of this server.");
    await next();
  });
  app.route("/", serviceRoutes(service, pollMs));
  app.route("/", trainingRoutes(service, tokenizer));
  app.route("/", weightsRoutes(service));
  app.route("/", samplingRoutes(service));
  app.route("/", restRoutes(service));
  app.notFound((c) => c.json({ detail: `There is no ${c.req.method} ${c.req.path} here.` }, 404));
  app.onError((error) => {
    if (error instanceof RequestError)
      return Response.json({ detail: error.message }, { status: error.status });
    if (error instanceof TinkerWireError || error instanceof SyntaxError)
      return Response.json({ detail: error.message }, { status: 422 });
    onError?.(error);
    return Response.json({ detail: "Internal Server Error" }, { status: 500 });
  });
  return app;
}
