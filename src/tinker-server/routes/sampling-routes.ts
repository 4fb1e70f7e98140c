/** Samplers and samples. */
import { z } from "zod";
import { Hono } from "hono";
import { tokensOf } from "../../tinker-api/codec/json-codec.ts";
import { RequestError } from "../request-error.ts";
import { newSampler } from "../sampling/samplers.ts";
import type { PromptTargets } from "../sampling/prompt-scores.ts";
import type { SamplingJob } from "../sampling/sampling.ts";
import type { SamplerSession } from "../sampling/sampler-table.ts";
import { fingerprintOf } from "../made-once.ts";
import { sessionOf, type TinkerService } from "../service.ts";
import { bodyText, readBody } from "./read-body.ts";

/** Ids to score, [prompt - 1, K]; -1 is no id. Sparse, only the listed cells are ids. */
const targetIds = z.object({
  data: z.array(z.int().min(-1)),
  shape: z.array(z.int().min(0)).nullish(),
  sparse_crow_indices: z.array(z.int().min(0)).nullish(),
  sparse_col_indices: z.array(z.int().min(0)).nullish(),
});

const createSamplerBody = z.object({
  session_id: z.string(),
  sampling_session_seq_id: z.int().min(0),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
});

const joinBody = z.object({ sampling_session_id: z.string() });

const cancelBody = z.object({ request_id: z.string() });

/** Below 0.001 it is greedy to the last bit and only divides by almost nothing. */
const temperature = z
  .number()
  .max(1000)
  .refine((value) => value === 0 || value >= 1e-3, "It must be 0, or from 0.001 to 1000.")
  .default(1);

const sampleBody = z.object({
  num_samples: z.int().min(1).max(16_384).default(1),
  prompt: z.unknown(),
  sampling_params: z.object({
    max_tokens: z.int().nullish(),
    seed: z.int().min(0).nullish(),
    stop: z.union([z.string(), z.array(z.string()), z.array(z.int())]).nullish(),
    temperature,
    top_k: z.int().default(-1),
    top_p: z.number().gt(0).max(1).default(1),
  }),
  sampling_session_id: z.string().nullish(),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  // Copies of an older client count from numbers that are larger than JavaScript's integers.
  seq_id: z.number().min(0).nullish(),
  prompt_logprobs: z.boolean().nullish(),
  prompt_logprobs_last_n: z.int().min(1).nullish(),
  topk_prompt_logprobs: z.int().min(0).default(0),
  topk_sample_logprobs: z.int().min(0).default(0),
  prompt_alt_tokens_k: z.int().min(0).default(0),
  target_prompt_logprobs: targetIds.nullish(),
  // What this server's stable_reinforce needs of sampling, its log-probabilities, the client has.
  record_stability_info: z.boolean().nullish(),
});

type SampleBody = z.output<typeof sampleBody>;

function targetsOf(given: SampleBody["target_prompt_logprobs"]): PromptTargets | null {
  if (!given) return null;
  const { data, sparse_crow_indices: rowStarts, sparse_col_indices: columns } = given;
  const shape = given.shape ?? [data.length, 1];
  return { ids: data, shape, ...(rowStarts && columns ? { rowStarts, columns } : {}) };
}

function jobOf(body: SampleBody): SamplingJob {
  const { sampling_params: params, topk_prompt_logprobs: top } = body;
  const stop = typeof params.stop === "string" ? [params.stop] : (params.stop ?? null);
  return {
    prompt: tokensOf(body.prompt),
    samples: body.num_samples,
    maxTokens: params.max_tokens ?? null,
    temperature: params.temperature,
    topP: params.top_p,
    topK: Math.max(0, params.top_k),
    seed: params.seed ?? null,
    stop,
    promptLogprobs: body.prompt_logprobs ?? top > 0,
    promptLogprobsLast: body.prompt_logprobs_last_n ?? null,
    topPromptTokens: top,
    topSampleTokens: body.topk_sample_logprobs,
    promptAltTokens: body.prompt_alt_tokens_k,
    promptTargets: targetsOf(body.target_prompt_logprobs),
  };
}

async function samplerOf(service: TinkerService, body: SampleBody): Promise<SamplerSession> {
  if (body.sampling_session_id) {
    service.sessions.touch(sessionOf(body.sampling_session_id));
    return service.samplers.find(body.sampling_session_id);
  }
  if (body.base_model) service.checkBase(body.base_model);
  else if (!body.model_path)
    throw new RequestError(
      422,
      "sampling_session_id: a session, base_model or model_path is needed.",
    );
  const modelPath = body.model_path ?? null;
  const weights = service.weightsOf(modelPath);
  return newSampler("", modelPath, weights);
}

/** A rounded number does not distinguish requests; their bodies, with all digits, do. */
function keyOf(seqId: number | null | undefined, fingerprint: string): string | null {
  if (seqId === null || seqId === undefined) return null;
  return Number.isSafeInteger(seqId) ? String(seqId) : fingerprint;
}

export function samplingRoutes(service: TinkerService): Hono {
  const app = new Hono();
  app.post("/create_sampling_session", async (c) => {
    const body = readBody(createSamplerBody, bodyText(c));
    service.sessions.use(body.session_id);
    if (body.base_model) service.checkBase(body.base_model);
    else if (!body.model_path)
      throw new RequestError(422, "base_model: it is needed, or a model_path.");
    const { id } = await service.createSampler(
      body.session_id,
      body.sampling_session_seq_id,
      body.model_path ?? null,
    );
    return c.json({ type: "create_sampling_session", sampling_session_id: id });
  });
  app.post("/asample", async (c) => {
    const text = bodyText(c);
    const body = readBody(sampleBody, text);
    const sampler = await samplerOf(service, body);
    const fingerprint = fingerprintOf(c.req.path, text);
    const key = keyOf(body.seq_id, fingerprint);
    const future = service.samplers.sample(sampler, key, fingerprint, jobOf(body));
    // Newer clients want a name for every sequence that is to come.
    const sequenceIds = Array.from({ length: body.num_samples }, (_, i) => `${future}:${i}`);
    return c.json({ request_id: future, sample_sequence_ids: sequenceIds });
  });
  app.post("/join_sampling_session", async (c) => {
    const { sampling_session_id: id } = readBody(joinBody, bodyText(c));
    const sampler = service.samplers.find(id);
    return c.json({ type: "join_sampling_session", client_counter: sampler.clients++ });
  });
  app.post("/cancel_future", async (c) => {
    service.samplers.cancel(readBody(cancelBody, bodyText(c)).request_id);
    return c.body(null, 204);
  });
  app.get("/samplers/:id", (c) => {
    const { id, modelPath } = service.samplers.find(c.req.param("id"));
    return c.json({ sampler_id: id, base_model: service.modelName, model_path: modelPath });
  });
  return app;
}
