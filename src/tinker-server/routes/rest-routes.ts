/** What there is: sessions, runs, checkpoints and their archives. */
import { z } from "zod";
import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import type { Context } from "hono";
import { checkpointKinds, formatPath, parsePath } from "../checkpoint-path.ts";
import type { CheckpointKind, CheckpointPath } from "../checkpoint-path.ts";
import type { Checkpoint, TrainingRun } from "../checkpoint-store.ts";
import { RequestError } from "../request-error.ts";
import type { TinkerService } from "../service.ts";
import { tarOfFolder } from "../tar.ts";
import { readBody } from "./read-body.ts";

const ttl = z.int().positive().nullish();

const pathBody = z.object({ tinker_path: z.string() });

const ttlBody = z.object({ ttl_seconds: ttl });

const archiveMs = 15 * 60_000;

function checkpointJson(checkpoint: Checkpoint): object {
  return {
    checkpoint_id: `${checkpoint.kind}/${checkpoint.name}`,
    checkpoint_type: checkpoint.kind === "weights" ? "training" : "sampler",
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

export function restRoutes(service: TinkerService): Hono {
  const app = new Hono();
  const { store } = service;
  const archives = new Map<string, { path: CheckpointPath; until: number }>();

  app.get("/sessions", (c) => {
    const { offset, limit } = page(c, 20);
    return c.json({ sessions: service.sessionIds().slice(offset, offset + limit) });
  });
  app.get("/sessions/:id", (c) => {
    const { modelIds, samplerIds } = service.session(c.req.param("id"));
    return c.json({ training_run_ids: modelIds, sampler_ids: samplerIds });
  });
  app.post("/sessions/:id/finish", (c) => {
    service.session(c.req.param("id"));
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
    const { tinker_path: path } = readBody(pathBody, await c.req.text());
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
    const { ttl_seconds: seconds } = readBody(ttlBody, await c.req.text());
    const expiresAt = seconds ? new Date(Date.now() + seconds * 1000).toISOString() : null;
    await store.change(pathOf(c), { expiresAt });
    return c.json({});
  });
  app.get(`${one}/archive`, async (c) => {
    const path = pathOf(c);
    await store.find(path);
    const ticket = randomBytes(24).toString("base64url");
    const until = Date.now() + archiveMs;
    archives.set(ticket, { path, until });
    const location = new URL(c.req.url);
    location.pathname = location.pathname.replace(/\/training_runs\/.*$/u, `/archives/${ticket}`);
    c.header("expires", new Date(until).toUTCString());
    return c.redirect(location.href, 302);
  });
  // The ticket is the permission: whoever fetches it sends no key.
  app.get("/archives/:ticket", async (c) => {
    const archive = archives.get(c.req.param("ticket"));
    if (archive === undefined || archive.until < Date.now())
      throw new RequestError(404, "This archive is gone. Ask for it again.");
    const tar = await tarOfFolder(store.folderOf(archive.path));
    return new Response(new Uint8Array(tar), { headers: { "content-type": "application/x-tar" } });
  });
  return app;
}
