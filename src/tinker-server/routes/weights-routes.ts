/** Checkpoints: saved and loaded in a model's order, with samplers made of them. */
import { z } from "zod";
import { Hono, type Context } from "hono";
import { readRecipient } from "../checkpoints/age.ts";
import { parsePath } from "../checkpoints/checkpoint-path.ts";
import { RequestError } from "../request-error.ts";
import { fingerprintOf } from "../made-once.ts";
import type { TinkerService } from "../service.ts";
import { inTurn, takeInOrder } from "./in-turn.ts";
import { bodyText, metadataSchema as metadata, readBody, ttlSchema as ttl } from "./read-body.ts";

const saveBody = z.object({
  model_id: z.string(),
  seq_id: z.int().nullish(),
  path: z.string().nullish(),
  sampling_session_seq_id: z.int().min(0).nullish(),
  kind: z.enum(["snapshot", "inflight"]).default("snapshot"),
  ttl_seconds: ttl,
  overwrite: z.boolean().default(false),
  user_metadata: metadata,
});

const externalBody = z.object({
  model_id: z.string(),
  seq_id: z.int().nullish(),
  path: z.string().min(1),
  ttl_seconds: ttl,
  overwrite: z.boolean().default(false),
  age_encryption_recipients: z.array(z.string()).max(10).nullish(),
  user_metadata: metadata,
});

const loadBody = z.object({
  model_id: z.string().nullish(),
  seq_id: z.int().nullish(),
  session_id: z.string().nullish(),
  model_seq_id: z.int().min(0).nullish(),
  base_model: z.string().nullish(),
  user_metadata: metadata,
  path: z.string(),
  optimizer: z.boolean(),
});

export function weightsRoutes(service: TinkerService): Hono {
  const app = new Hono();
  const save = (c: Context): Response => {
    const body = readBody(saveBody, bodyText(c));
    const { path: name } = body;
    if (!name) throw new RequestError(422, "path: a checkpoint needs a name.");
    return takeInOrder(service, c, body, async (model) => ({
      type: "save_weights",
      path: await service.save(model, { ...saveOptions(body), name, kind: "weights" }),
    }));
  };
  app.post("/save_weights", inTurn(service, save));

  const saveForSampler = (c: Context): Response => {
    const body = readBody(saveBody, bodyText(c));
    if (body.kind !== "snapshot")
      throw new RequestError(
        400,
        `Samplers here keep the weights they were made of; kind is "${body.kind}".`,
      );
    const { path: name, sampling_session_seq_id: samplerSeqId } = body;
    if (!name && samplerSeqId === undefined)
      throw new RequestError(422, "path: a name is needed, or a sampling_session_seq_id.");
    return takeInOrder(service, c, body, async (model) => {
      if (name) {
        const options = { ...saveOptions(body), name, kind: "sampler_weights" as const };
        return { type: "save_weights_for_sampler", path: await service.save(model, options) };
      }
      const weights = model.adapter.snapshot();
      const sampler = await service.createSampler(model.sessionId, samplerSeqId!, null, weights);
      return {
        type: "save_weights_for_sampler",
        path: null,
        sampling_session_id: sampler.id,
      };
    });
  };
  app.post("/save_weights_for_sampler", inTurn(service, saveForSampler));

  const saveExternal = (c: Context): Response => {
    const body = readBody(externalBody, bodyText(c));
    const recipients = (body.age_encryption_recipients ?? []).map(readRecipient);
    const kind = "external_weights";
    const options = { ...saveOptions(body), name: body.path, kind, recipients } as const;
    return takeInOrder(service, c, body, async (model) => {
      const path = await service.save(model, options);
      const { sizeBytes } = await service.store.find(parsePath(path));
      return { type: "save_weights_external", path, size_bytes: sizeBytes };
    });
  };
  app.post("/save_weights_external", inTurn(service, saveExternal));

  const load = (c: Context): Response => {
    const text = bodyText(c);
    const body = readBody(loadBody, text);
    const { model_id: id, seq_id: seqId, session_id: sessionId, path, optimizer } = body;
    if (id)
      return takeInOrder(service, c, { model_id: id, seq_id: seqId }, async (model) => {
        await service.load(model, path, optimizer);
        return { type: "load_weights", path, model_id: id };
      });
    if (!sessionId || body.model_seq_id === undefined)
      throw new RequestError(422, "model_id: a model is needed, or session_id and model_seq_id.");
    service.sessions.use(sessionId);
    const newId = `${sessionId}:train:${body.model_seq_id}`;
    const future = service.once(newId, fingerprintOf(c.req.path, text), async () => {
      const { spec } = await service.store.find(parsePath(path));
      service.checkSpec(spec);
      const userMetadata = body.user_metadata ?? null;
      const model = await service.createModel(newId, sessionId, spec, userMetadata);
      await service.load(model, path, optimizer).catch((error: unknown) => {
        service.unload(newId);
        throw error;
      });
      return { type: "load_weights", path, model_id: newId };
    });
    return c.json({ request_id: future, model_id: newId });
  };
  app.post("/load_weights", inTurn(service, load));
  return app;
}

type SaveBody = Pick<z.output<typeof saveBody>, "ttl_seconds" | "overwrite" | "user_metadata">;

function saveOptions(body: SaveBody): {
  ttlSeconds: number | null;
  overwrite: boolean;
  userMetadata: Readonly<Record<string, unknown>> | null;
} {
  const { ttl_seconds: ttlSeconds = null, overwrite, user_metadata: userMetadata = null } = body;
  return { ttlSeconds, overwrite, userMetadata };
}
