/** The body of a completion: token ids in, and what is to be sampled after them. */
import { z } from "zod";
import { RequestError } from "../../../src/tinker-server/request-error.ts";
import { readBody } from "../../../src/tinker-server/routes/read-body.ts";
import type { SamplingJob } from "../../../src/tinker-server/sampling/sampling.ts";

/** Below 0.001 it is greedy to the last bit and only divides by almost nothing. */
const temperature = z
  .number()
  .max(1000)
  .refine((value) => value === 0 || value >= 1e-3, "It must be 0, or from 0.001 to 1000.")
  .nullish();

const completionBody = z.looseObject({
  model: z.string(),
  prompt: z.array(z.int32()).min(1, "It must be a list of token ids."),
  n: z.int().min(1).max(128).nullish(),
  max_tokens: z.int().min(0).nullish(),
  temperature,
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  seed: z.int().min(0).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(64)]).nullish(),
  stream: z.boolean().nullish(),
  echo: z.boolean().nullish(),
  echo_last: z.int().min(0).nullish(),
  logprobs: z.union([z.boolean(), z.int().min(0).max(1)]).nullish(),
  perf_metrics_in_response: z.boolean().nullish(),
});

/** Of what is sampled, they change nothing. */
const ignored = new Set([
  "raw_output",
  "prompt_cache_key",
  "user",
  "metadata",
  "stream_options",
  "service_tier",
  "return_token_ids",
]);

/** Values of other fields that ask for nothing. */
const neutral: Readonly<Record<string, unknown>> = {
  min_p: 0,
  typical_p: 1,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
  best_of: 1,
};

export interface CompletionRequest {
  readonly model: string;
  readonly job: SamplingJob;
  readonly stream: boolean;
  readonly logprobs: boolean;
  readonly perfMetrics: boolean;
  /** Tokens of the prompt, from its end, that come before what is sampled. */
  readonly echoed: number;
  /** Nothing is sampled: the prompt alone is scored. */
  readonly onlyPrompt: boolean;
  /** Nothing is cut off, so the sampling distribution is the model's at this temperature. */
  readonly isWhole: boolean;
}

/** @throws RequestError 422, 400 naming the field. */
export function readCompletion(text: string): CompletionRequest {
  const body = readBody(completionBody, text);
  for (const [name, value] of Object.entries(body)) {
    if (name in completionBody.shape || ignored.has(name)) continue;
    const isNothing = value === null || value === false || value === neutral[name];
    if (!isNothing) throw new RequestError(400, `This server does not do ${name}. Leave it out.`);
  }
  const { prompt, stop, top_p: topP, top_k: topK } = body;
  const last = body.echo_last ?? (body.echo === true ? prompt.length : 0);
  const echoed = Math.min(last, prompt.length);
  const logprobs = body.logprobs === true || typeof body.logprobs === "number";
  const onlyPrompt = body.max_tokens === 0;
  if (onlyPrompt && echoed === 0)
    throw new RequestError(400, "max_tokens is 0, but must be at least 1 without echo.");
  const stops = typeof stop === "string" ? [stop] : (stop ?? []);
  return {
    model: body.model,
    job: {
      prompt: Int32Array.from(prompt),
      samples: body.n ?? 1,
      maxTokens: onlyPrompt ? 1 : (body.max_tokens ?? null),
      temperature: body.temperature ?? 1,
      topP: topP ?? 1,
      topK: Math.max(0, topK ?? 0),
      seed: body.seed ?? null,
      stop: stops.length === 0 ? null : stops,
      promptLogprobs: echoed > 0 && logprobs,
      promptLogprobsLast: null,
      topPromptTokens: 0,
    },
    stream: body.stream === true,
    logprobs,
    perfMetrics: body.perf_metrics_in_response === true,
    echoed,
    onlyPrompt,
    isWhole: (topP ?? 1) === 1 && (topK ?? 0) <= 0,
  };
}
