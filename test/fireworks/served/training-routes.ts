/** Models: made, trained and unloaded. Losses, tensors and the optimizer are those of the Tinker API. */
import { Hono, type Context } from "hono";
import { z } from "zod";
import { isFrozen, type AdapterSpec } from "../../../src/tinker-server/model/adapter.ts";
import { RequestError } from "../../../src/tinker-server/request-error.ts";
import { fingerprintOf } from "../../../src/tinker-server/made-once.ts";
import type { LoadedModel } from "../../../src/tinker-server/model-table.ts";
import { inTurn, takeInOrder } from "../../../src/tinker-server/routes/in-turn.ts";
import { protocolRoutes } from "../../../src/tinker-server/routes/protocol-routes.ts";
import {
  bodyText,
  metadataSchema as metadata,
  readBody,
} from "../../../src/tinker-server/routes/read-body.ts";
import { readOptimStep } from "../../../src/tinker-server/routes/training-routes.ts";
import { sampleSeed } from "../../../src/tinker-server/service.ts";
import { checkBaseModel, maxModelSeq, modelIdOf } from "./names.ts";
import type { FireworksParts } from "./parts.ts";

const createModelBody = z.object({
  session_id: z.string(),
  model_seq_id: z.int().min(0).max(maxModelSeq),
  base_model: z.string(),
  base_only: z.boolean().nullish(),
  projection_head_dim: z.int().nullish(),
  user_metadata: metadata,
  lora_config: z
    .object({
      rank: z.int(),
      alpha: z.number().gt(0).max(1e6).nullish(),
      seed: z.int().min(0).nullish(),
      init_method: z.string().nullish(),
      train_mlp: z.boolean().default(true),
      train_attn: z.boolean().default(true),
    })
    .nullish(),
});

type CreateModelBody = z.output<typeof createModelBody>;

const normalizationBody = z.object({
  grad_accumulation_normalization: z
    .enum(["num_loss_tokens", "num_sequences", "none"])
    .nullish()
    .transform((value) => value ?? "none"),
});

/** Of a model that nothing trains; without a change its factors add 0. */
const frozen = { rank: 1, seed: 0, trainAttention: false, trainMlp: false };

/** What the engine has of all that a trainer may say of itself. */
const capabilities = {
  comms: "v1",
  routing_matrix_format: "base64_inline",
  supports_router_replay: false,
  supports_target_logprob_support: false,
  supports_reinforce: false,
  supports_score_centering: false,
  supports_policy_importance_sampling: false,
  supports_policy_diagnostics: false,
  supports_rdma_weight_sync: false,
};

function specOf({ lora_config: lora, base_only: baseOnly, ...body }: CreateModelBody): AdapterSpec {
  if (body.projection_head_dim)
    throw new RequestError(400, "projection_head_dim: this server has no projection heads.");
  if (baseOnly === true) {
    if (lora)
      throw new RequestError(
        400,
        "lora_config: a base_only model has none. Leave one of them out.",
      );
    return frozen;
  }
  if (!lora)
    throw new RequestError(
      400,
      "lora_config is missing: this server trains LoRA adapters only. For a frozen reference model, set base_only.",
    );
  // The service's own default where a client sends none.
  const { rank, seed, alpha, train_attn: trainAttention, train_mlp: trainMlp } = lora;
  if ((lora.init_method ?? "kaiming") !== "kaiming")
    throw new RequestError(
      400,
      `lora_config.init_method is "${lora.init_method}", but this server has only "kaiming".`,
    );
  return {
    rank,
    seed: seed ?? sampleSeed(),
    trainAttention,
    trainMlp,
    alpha: alpha ?? 2 * rank,
  };
}

/** Refuses what would change a model that is only there to compare with. @throws RequestError 400 */
export function checkTrainable(model: LoadedModel): void {
  if (isFrozen(model.adapter.spec))
    throw new RequestError(400, `Model "${model.id}" is base_only: it can only be read.`);
}

export function trainingRoutes({ service, maxBodyBytes }: FireworksParts): Hono {
  const app = new Hono();
  app.post("/create_model", (c) => {
    const text = bodyText(c);
    const body = readBody(createModelBody, text);
    const { session_id: sessionId, model_seq_id: seq, user_metadata: userMetadata } = body;
    service.sessions.use(sessionId);
    checkBaseModel(body.base_model, service.modelName);
    const spec = specOf(body);
    if (!isFrozen(spec) || body.base_only !== true) service.checkSpec(spec);
    const id = modelIdOf(sessionId, seq);
    const key = `${sessionId}:train:${seq}`;
    const future = service.once(key, fingerprintOf(c.req.path, text), async () => {
      await service.createModel(id, sessionId, spec, userMetadata ?? null);
      return { type: "create_model", model_id: id, ...capabilities };
    });
    return c.json({ request_id: future, model_id: id });
  });

  app.route("/", protocolRoutes(service, { maxBodyBytes, checkTrainable }));

  const step = (c: Context): Response => {
    const text = bodyText(c);
    const { body, optim } = readOptimStep(text);
    const normalization = readBody(normalizationBody, text).grad_accumulation_normalization;
    checkTrainable(service.model(body.model_id));
    return takeInOrder(service, c, body, (model) => ({
      type: "optim_step",
      metrics: service.optimStep(model, optim, normalization),
    }));
  };
  app.post("/optim_step", inTurn(service, step));
  return app;
}
