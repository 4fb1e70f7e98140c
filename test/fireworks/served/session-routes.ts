/** Sessions, results, and what a client asks before it has a model. */
import { Hono } from "hono";
import { z } from "zod";
import { RequestError } from "../../../src/tinker-server/request-error.ts";
import {
  bodyText,
  metadataSchema as metadata,
  readBody,
} from "../../../src/tinker-server/routes/read-body.ts";
import { retrieveFuture } from "../../../src/tinker-server/routes/retrieve-future.ts";
import { resultToJson } from "../../../src/tinker-server/routes/service-routes.ts";
import type { FireworksParts } from "./parts.ts";
import { checkBaseModel, modelIdOfRun } from "./names.ts";

const createSessionBody = z.object({
  user_metadata: metadata,
  tags: z.array(z.string().max(1000)).max(100).nullish(),
  project_id: z.string().nullish(),
});

const routeBody = z.object({
  base_model: z.string().nullish(),
  training_run: z.string().nullish(),
});

export function sessionRoutes({ service, pollMs, metadataBytes, account }: FireworksParts): Hono {
  const app = new Hono();
  app.post("/create_session", (c) => {
    const body = readBody(createSessionBody, bodyText(c));
    if (body.project_id)
      throw new RequestError(400, "project_id: this server has no projects. Leave it out.");
    const { id } = service.sessions.create(body.user_metadata ?? null);
    return c.json({
      type: "create_session",
      session_id: id,
      info_message: null,
      warning_message: null,
      error_message: null,
    });
  });
  app.post(
    "/retrieve_future",
    retrieveFuture(service, pollMs, (c, result, body) => {
      const text = JSON.stringify(resultToJson(result));
      const size = Buffer.byteLength(text);
      if (body.allow_metadata_only === true && size > metadataBytes)
        return c.json({ status: "complete_metadata", response_payload_size: size });
      return c.body(text, 200, { "content-type": "application/json" });
    }),
  );
  // Chunks of one request may come in any order: they are executed in that of their numbers.
  app.post("/client/config", (c) =>
    c.json({
      parallel_fwdbwd_chunks: true,
      proto_write_fwdbwd: false,
      proto_compress_fwdbwd: false,
      sample_no_retries: false,
    }),
  );
  app.post("/create_sampling_route", async (c) => {
    const { base_model: base, training_run: run } = readBody(routeBody, bodyText(c));
    if (base) checkBaseModel(base, service.modelName);
    else if (run) {
      const id = new RegExp(`^accounts/${account}/trainingRuns/([^/]+)$`, "u").exec(run)?.[1];
      await service.store.run(modelIdOfRun(id ?? run));
    } else throw new RequestError(422, "base_model: it is needed, or a training_run.");
    return c.json({});
  });
  return app;
}
