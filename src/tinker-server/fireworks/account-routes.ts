/** The control plane, as far as training needs it: the account, sessions, their checkpoints. */
import { Hono } from "hono";
import { z } from "zod";
import type { Checkpoint } from "../checkpoints/checkpoint-store.ts";
import { loraSpecOf } from "../model/adapter.ts";
import { RequestError } from "../request-error.ts";
import { bodyText, readBody } from "../routes/read-body.ts";
import { checkBaseModel } from "./names.ts";
import type { FireworksParts } from "./parts.ts";
import { promote } from "./promoted-models.ts";
import { checkpointsOfSession, findInSession, idInSession } from "./session-checkpoints.ts";

const promoteBody = z.object({ output_model: z.string(), base_model: z.string() });

const largestPage = 200;

function pageOf<T>(
  rows: readonly T[],
  size: string | undefined,
  token: string | undefined,
): { rows: readonly T[]; next: string } {
  const count = Math.min(Math.max(1, Number(size) || largestPage), largestPage);
  const start = Math.max(0, Number(token) || 0);
  const end = start + count;
  return { rows: rows.slice(start, end), next: end < rows.length ? String(end) : "" };
}

export function accountRoutes(parts: FireworksParts): Hono {
  const { service, account } = parts;
  const app = new Hono();
  app.get("/accounts", (c) =>
    c.json({ accounts: [{ name: `accounts/${account}` }], nextPageToken: "" }),
  );
  app.use("/accounts/:account/*", async (c, next) => {
    const name = c.req.param("account");
    if (name !== account)
      throw new RequestError(404, `This server's account is "${account}", not "${name}".`);
    await next();
  });
  app.delete("/accounts/:account/trainingSessions/:session", (c) => {
    service.sessions.end(c.req.param("session"));
    return c.json({});
  });
  app.get("/accounts/:account/trainingSessions/:session/checkpoints", async (c) => {
    const session = c.req.param("session");
    const parent = `accounts/${account}/trainingSessions/${session}`;
    const all = await checkpointsOfSession(service, session);
    const { rows, next } = pageOf(all, c.req.query("pageSize"), c.req.query("pageToken"));
    const describe = (checkpoint: Checkpoint): object => ({
      name: `${parent}/checkpoints/${idInSession(checkpoint)}`,
      createTime: checkpoint.time,
      checkpointType: checkpoint.kind === "weights" ? "TRAINING_LORA" : "INFERENCE_LORA",
      promotable: checkpoint.kind === "sampler_weights",
    });
    return c.json({ trainingSessionCheckpoints: rows.map(describe), nextPageToken: next });
  });
  app.post("/accounts/:account/trainingSessions/:session/checkpoints/:verb", async (c) => {
    const verb = c.req.param("verb");
    if (!verb.endsWith(":promote"))
      throw new RequestError(404, `There is no ${c.req.method} ${c.req.path} here.`);
    const id = verb.slice(0, -":promote".length);
    const body = readBody(promoteBody, bodyText(c));
    checkBaseModel(body.base_model, service.modelName);
    const checkpoint = await findInSession(service, c.req.param("session"), id);
    await promote(parts, checkpoint, service.store.folderOf(checkpoint), body.output_model);
    const { rank } = loraSpecOf(checkpoint.spec);
    const targetModules = [
      "q_proj",
      "k_proj",
      "v_proj",
      "o_proj",
      "gate_proj",
      "up_proj",
      "down_proj",
    ];
    const peftDetails = { baseModel: body.base_model, r: rank, targetModules };
    return c.json({
      model: { name: body.output_model, state: "READY", kind: "HF_PEFT_ADDON", peftDetails },
    });
  });
  return app;
}
