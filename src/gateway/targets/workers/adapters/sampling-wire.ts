/**
 * Sampling parameters as each server names them. Every field is written, because what is omitted is
 * filled from the model's generation_config, and then the logprobs are not those of the distribution.
 */
import type { SamplingParams } from "../../../../core/policy.ts";

type Wire = Readonly<Record<string, unknown>>;

/** Omitted where there is no limit: the server then continues to the end of the context. */
export function limitOf({ maxTokens }: SamplingParams): number | undefined {
  return Number.isFinite(maxTokens) ? maxTokens : undefined;
}

/** Older servers know "off" as -1 only. */
const topKOrOff = (topK: number): number => (topK === 0 ? -1 : topK);

export function vllmSampling(params: SamplingParams): Wire {
  return {
    max_tokens: limitOf(params),
    temperature: params.temperature,
    top_p: params.topP,
    top_k: topKOrOff(params.topK),
    min_p: params.minP,
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
    min_tokens: 0,
    ignore_eos: false,
    stop_token_ids: params.stopTokenIds,
    seed: params.seed,
  };
}

export function sglangSampling(params: SamplingParams): Wire {
  return {
    max_new_tokens: limitOf(params),
    temperature: params.temperature,
    top_p: params.topP,
    top_k: topKOrOff(params.topK),
    min_p: params.minP,
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
    min_new_tokens: 0,
    ignore_eos: false,
    stop_token_ids: params.stopTokenIds,
  };
}

/** SGLang's OpenAI routes, which take the extras at the top level. */
export function sglangChatSampling(params: SamplingParams): Wire {
  const { max_new_tokens: maxTokens, min_new_tokens: minTokens, ...rest } = sglangSampling(params);
  return { ...rest, max_tokens: maxTokens, min_tokens: minTokens, seed: params.seed };
}

export function llamacppSampling(params: SamplingParams): Wire {
  return {
    temperature: params.temperature,
    top_p: params.topP,
    top_k: params.topK,
    min_p: params.minP,
    typical_p: 1,
    repeat_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    dry_multiplier: 0,
    xtc_probability: 0,
    mirostat: 0,
    dynatemp_range: 0,
    seed: params.seed,
  };
}

/** Only what OpenAI defines; what others would have to ignore is sent only where it has an effect. */
export function openaiSampling(params: SamplingParams): Wire {
  return {
    max_tokens: limitOf(params),
    temperature: params.temperature,
    top_p: params.topP,
    presence_penalty: 0,
    frequency_penalty: 0,
    seed: params.seed,
    ...(params.topK === 0 ? {} : { top_k: params.topK }),
    ...(params.minP === 0 ? {} : { min_p: params.minP }),
  };
}
