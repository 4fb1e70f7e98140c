/** Models: made and trained. */
import { z } from "zod";
import { Hono, type Context } from "hono";
import type { OptimSpec } from "../../core/loss/loss.ts";
import { RequestError } from "../request-error.ts";
import { fingerprintOf } from "../made-once.ts";
import type { LoadedModel } from "../model-table.ts";
import { sampleSeed, type TinkerService } from "../service.ts";
import { inTurn, takeInOrder, type OrderedBody } from "./in-turn.ts";
import { protocolRoutes } from "./protocol-routes.ts";
import { bodyText, metadataSchema as metadata, readBody } from "./read-body.ts";

const modelBody = z.object({ model_id: z.string() });

const createModelBody = z.object({
  session_id: z.string(),
  model_seq_id: z.int().min(0),
  base_model: z.string(),
  user_metadata: metadata,
  lora_config: z
    .object({
      rank: z.int(),
      seed: z.int().min(0).nullish(),
      train_mlp: z.boolean().default(true),
      train_attn: z.boolean().default(true),
    })
    .nullish(),
  optimizer_config: z.object({ type: z.string() }).nullish(),
});

const adamParams = z.object({
  learning_rate: z.number().min(0).max(100).default(1e-4),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.95),
  // Without it, a gradient of 0 would be divided by 0.
  eps: z.number().gt(0).max(1).default(1e-12),
  weight_decay: z.number().min(0).max(100).default(0),
  grad_clip_norm: z.number().min(0).default(0),
});

const optimStepBody = z.object({
  model_id: z.string(),
  seq_id: z.int().nullish(),
  adam_params: adamParams,
});

/** @throws RequestError 422 naming the field. */
export function readOptimStep(text: string): {
  readonly body: OrderedBody;
  readonly optim: OptimSpec;
} {
  const body = readBody(optimStepBody, text);
  const { adam_params: adam } = body;
  const optim = {
    learningRate: adam.learning_rate,
    beta1: adam.beta1,
    beta2: adam.beta2,
    eps: adam.eps,
    weightDecay: adam.weight_decay,
    maxGradNorm: adam.grad_clip_norm,
  };
  return { body, optim };
}

function infoOf(service: TinkerService, model: LoadedModel, tokenizer: string): object {
  return {
    type: "get_info",
    model_id: model.id,
    model_data: { arch: "", model_name: service.modelName, tokenizer_id: tokenizer },
    is_lora: true,
    lora_rank: model.adapter.spec.rank,
    model_name: service.modelName,
  };
}

export interface TrainingRouteOptions {
  readonly tokenizer: string;
  /** Of a body, once it is unpacked. */
  readonly maxBodyBytes: number;
}

export function trainingRoutes(
  service: TinkerService,
  { tokenizer, maxBodyBytes }: TrainingRouteOptions,
): Hono {
  const app = new Hono();
  app.route("/", protocolRoutes(service, { maxBodyBytes }));

  app.post("/create_model", async (c) => {
    const text = bodyText(c);
    const body = readBody(createModelBody, text);
    service.sessions.use(body.session_id);
    service.checkBase(body.base_model);
    if (!body.lora_config)
      throw new RequestError(400, "lora_config is missing: this server trains LoRA adapters only.");
    const optimizer = body.optimizer_config?.type ?? "adamw";
    if (optimizer !== "adamw")
      throw new RequestError(400, `This server's optimizer is adamw; it has no "${optimizer}".`);
    const { rank, seed, train_attn: trainAttention, train_mlp: trainMlp } = body.lora_config;
    const spec = { rank, seed: seed ?? sampleSeed(), trainAttention, trainMlp };
    const id = `${body.session_id}:train:${body.model_seq_id}`;
    const future = service.once(id, fingerprintOf(c.req.path, text), async () => {
      service.checkSpec(spec);
      await service.createModel(id, body.session_id, spec, body.user_metadata ?? null);
      return { type: "create_model", model_id: id };
    });
    return c.json({ request_id: future, model_id: id });
  });

  app.post("/get_info", async (c) => {
    const { model_id: id } = readBody(modelBody, bodyText(c));
    return c.json(infoOf(service, service.model(id), tokenizer));
  });

  const step = (c: Context): Response => {
    const { body, optim } = readOptimStep(bodyText(c));
    return takeInOrder(service, c, body, (model) => ({
      type: "optim_step",
      metrics: service.optimStep(model, optim),
    }));
  };
  app.post("/optim_step", inTurn(service, step));

  return app;
}
