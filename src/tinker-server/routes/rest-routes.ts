/** What there is: sessions, runs, checkpoints and their archives. */
import { z } from "zod";
import { Hono, type Context } from "hono";
import {
  checkpointKinds,
  formatPath,
  parsePath,
  type CheckpointKind,
  type CheckpointPath,
} from "../checkpoints/checkpoint-path.ts";
import type { Checkpoint, TrainingRun } from "../checkpoints/checkpoint-store.ts";
import { RequestError } from "../request-error.ts";
import type { TinkerService } from "../service.ts";
import type { Archives } from "./archive-routes.ts";
import { bodyText, readBody, ttlSchema as ttl } from "./read-body.ts";

const pathBody = z.object({ tinker_path: z.string() });

const ttlBody = z.object({ ttl_seconds: ttl });

const types: Readonly<Record<CheckpointKind, string>> = {
  weights: "training",
  sampler_weights: "sampler",
  external_weights: "external",
};

function checkpointJson(checkpoint: Checkpoint): object {
  return {
    checkpoint_id: `${checkpoint.kind}/${checkpoint.name}`,
    checkpoint_type: types[checkpoint.kind],
    time: checkpoint.time,
    tinker_path: formatPath(checkpoint),
    size_bytes: checkpoint.sizeBytes,
    public: checkpoint.isPublic,
    expires_at: checkpoint.expiresAt,
    user_metadata: checkpoint.userMetadata,
  };
}

async function runJson(service: TinkerService, run: TrainingRun): Promise<object> {
  const checkpoints = await service.store.checkpointsOf(run.id);
  const last = (kind: CheckpointKind): object | null => {
    const found = checkpoints.find((checkpoint) => checkpoint.kind === kind);
    return found === undefined ? null : checkpointJson(found);
  };
  return {
    training_run_id: run.id,
    base_model: run.baseModel,
    model_owner: "local",
    is_lora: true,
    lora_rank: run.spec.rank,
    corrupted: false,
    last_request_time: checkpoints[0]?.time ?? run.createdAt,
    last_checkpoint: last("weights"),
    last_sampler_checkpoint: last("sampler_weights"),
    user_metadata: run.userMetadata,
  };
}

function page(c: Context, limit: number): { offset: number; limit: number } {
  const read = (name: string, fallback: number): number => {
    const value = Number(c.req.query(name) ?? fallback);
    if (Number.isInteger(value) && value >= 0) return value;
    throw new RequestError(422, `${name}: it must be a whole number from 0.`);
  };
  return { offset: read("offset", 0), limit: read("limit", limit) };
}

function pathOf(c: Context): CheckpointPath {
  const [run, kind, name] = [c.req.param("run"), c.req.param("kind"), c.req.param("name")];
  return parsePath(`tinker://${run}/${kind}/${name}`);
}

export function restRoutes(service: TinkerService, archives: Archives): Hono {
  const app = new Hono();
  const { store } = service;

  app.get("/sessions", (c) => {
    const { offset, limit } = page(c, 20);
    return c.json({ sessions: service.sessions.ids().slice(offset, offset + limit) });
  });
  app.get("/sessions/:id", (c) => {
    const { modelIds, samplerIds } = service.sessions.find(c.req.param("id"));
    return c.json({ training_run_ids: modelIds, sampler_ids: samplerIds });
  });
  app.post("/sessions/:id/finish", (c) => {
    service.sessions.end(c.req.param("id"));
    return c.json({});
  });
  app.get("/training_runs", async (c) => {
    const { offset, limit } = page(c, 20);
    const runs = await store.runs();
    const shown = runs.slice(offset, offset + limit);
    return c.json({
      training_runs: await Promise.all(shown.map((run) => runJson(service, run))),
      cursor: { offset, limit, total_count: runs.length },
    });
  });
  app.get("/training_runs/:run", async (c) =>
    c.json(await runJson(service, await store.run(c.req.param("run")))),
  );
  app.get("/training_runs/:run/checkpoints", async (c) => {
    const { id } = await store.run(c.req.param("run"));
    return c.json({ checkpoints: (await store.checkpointsOf(id)).map(checkpointJson) });
  });
  app.get("/checkpoints", async (c) => {
    const { offset, limit } = page(c, 100);
    const runs = await store.runs();
    const all = (await Promise.all(runs.map(({ id }) => store.checkpointsOf(id))))
      .flat()
      .toSorted((a, b) => b.time.localeCompare(a.time));
    return c.json({
      checkpoints: all.slice(offset, offset + limit).map(checkpointJson),
      cursor: { offset, limit, total_count: all.length },
    });
  });
  app.post("/weights_info", async (c) => {
    const { tinker_path: path } = readBody(pathBody, bodyText(c));
    const { spec, baseModel } = await store.find(parsePath(path));
    return c.json({
      base_model: baseModel,
      is_lora: true,
      lora_rank: spec.rank,
      train_unembed: false,
      train_mlp: spec.trainMlp,
      train_attn: spec.trainAttention,
    });
  });

  const one = `/training_runs/:run/checkpoints/:kind{${checkpointKinds.join("|")}}/:name`;
  app.delete(one, async (c) => {
    await store.remove(pathOf(c));
    return c.body(null, 204);
  });
  const publish = async (c: Context, isPublic: boolean): Promise<Response> => {
    const path = pathOf(c);
    if ((await store.find(path)).isPublic === isPublic)
      throw new RequestError(
        409,
        `${formatPath(path)} is ${isPublic ? "public" : "private"} already.`,
      );
    await store.change(path, { isPublic });
    return c.json({});
  };
  app.post(`${one}/publish`, (c) => publish(c, true));
  app.delete(`${one}/publish`, (c) => publish(c, false));
  app.put(`${one}/ttl`, async (c) => {
    const { ttl_seconds: seconds } = readBody(ttlBody, bodyText(c));
    const expiresAt = seconds ? new Date(Date.now() + seconds * 1000).toISOString() : null;
    await store.change(pathOf(c), { expiresAt });
    return c.json({});
  });
  app.get(`${one}/archive`, async (c) => {
    const { url, expires } = await archives.urlOf(c, pathOf(c));
    c.header("expires", expires.toUTCString());
    return c.redirect(url, 302);
  });
  app.get(`${one}/external_weights_urls`, async (c) => {
    const path = pathOf(c);
    if (path.kind !== "external_weights")
      throw new RequestError(
        400,
        `${formatPath(path)} is none of external_weights; save_weights_external makes them.`,
      );
    const { url, expires } = await archives.urlOf(c, path);
    const files = await archives.filesOf(path);
    const urls = Object.fromEntries(files.map((file) => [file, `${url}/${file}`]));
    return c.json({ urls, expires: expires.toISOString() });
  });
  return app;
}
