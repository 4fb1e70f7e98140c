/** Checkpoints and snapshots, in a model's order. A name is given once; what has it never changes. */
import { Hono, type Context } from "hono";
import { z } from "zod";
import {
  formatPath,
  type CheckpointKind,
} from "../../../src/tinker-server/checkpoints/checkpoint-path.ts";
import { RequestError } from "../../../src/tinker-server/request-error.ts";
import { inTurn, takeInOrder } from "../../../src/tinker-server/routes/in-turn.ts";
import { bodyText, readBody } from "../../../src/tinker-server/routes/read-body.ts";
import { checkLabel, formatCheckpoint, parseCheckpoint, runOf } from "./names.ts";
import type { FireworksParts } from "./parts.ts";
import { checkTrainable } from "./training-routes.ts";

const common = { model_id: z.string(), seq_id: z.int().nullish() };

const saveBody = z.object({
  ...common,
  path: z.string().min(1),
  overwrite: z.boolean().nullish(),
  ttl_seconds: z.unknown().nullish(),
  checkpoint_type: z.string().nullish(),
});

const loadBody = z.object({ ...common, path: z.string(), optimizer: z.boolean().default(false) });

export function checkpointRoutes(parts: FireworksParts): Hono {
  const { service, account } = parts;
  const app = new Hono();

  const save = (kind: CheckpointKind, type: string) =>
    inTurn(service, (c) => {
      const body = readBody(saveBody, bodyText(c));
      const { checkpoint_type: shape } = body;
      const name = checkLabel(body.path);
      if (body.overwrite === true)
        throw new RequestError(400, "overwrite: a checkpoint never changes. Choose another name.");
      if (body.ttl_seconds !== null && body.ttl_seconds !== undefined)
        throw new RequestError(400, "ttl_seconds: checkpoints here are kept. Leave it out.");
      if (kind === "sampler_weights" && (shape ?? "base") !== "base")
        throw new RequestError(
          400,
          `checkpoint_type is "${shape}", but adapters are saved as "base" here.`,
        );
      checkTrainable(service.model(body.model_id));
      return takeInOrder(service, c, body, async (model) => {
        const path = { runId: model.id, kind, name };
        const shown = formatCheckpoint(account, path);
        if (await service.store.has(path))
          throw new RequestError(409, `Checkpoint ${shown} already exists.`);
        const { userMetadata } = model;
        await service.save(model, { name, kind, ttlSeconds: null, overwrite: false, userMetadata });
        return { type, path: shown };
      });
    });
  app.post("/save_weights", save("weights", "save_weights"));
  app.post("/save_weights_for_sampler", save("sampler_weights", "save_weights_for_sampler"));

  const load = (c: Context): Response => {
    const body = readBody(loadBody, bodyText(c));
    checkTrainable(service.model(body.model_id));
    return takeInOrder(service, c, body, async (model) => {
      const run = runOf(body.model_id);
      const path = parseCheckpoint(account, body.path, "weights", run);
      if (runOf(path.runId) !== run)
        throw new RequestError(
          400,
          `${body.path} is of another run. As on the service, a model loads only checkpoints of its run; promote one and use load_adapter to start from its weights.`,
        );
      const shown = formatCheckpoint(account, path);
      const hasState = await service.store.has(path);
      const snapshot = { ...path, kind: "sampler_weights" } as const;
      if (!hasState && !(await service.store.has(snapshot)))
        throw new RequestError(404, `There is no checkpoint ${shown}.`);
      await service.load(model, formatPath(hasState ? path : snapshot), body.optimizer);
      return { type: "load_weights", path: shown };
    });
  };
  app.post("/load_weights", inTurn(service, load));

  app.get("/list_checkpoints", async (c) => {
    const runs = service.modelIds();
    const all = await Promise.all(runs.map((run) => service.store.checkpointsOf(run)));
    const names = all.flat().filter(({ kind }) => kind === "weights");
    const oldestFirst = names.toSorted((a, b) => a.time.localeCompare(b.time));
    return c.json({ checkpoints: [...new Set(oldestFirst.map(({ name }) => name))] });
  });
  return app;
}
