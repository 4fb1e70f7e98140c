/**
 * llama.cpp's native `/completion`. It gives the ids of all tokens, but of tokens that make one character
 * together the log-probability of the last only.
 */
import type { JsonFields } from "../../../../util/json-object.ts";
import type { ResponsePart, ResponseChunk } from "./response-part.ts";
import { defined } from "../../../../util/defined.ts";
import { idsIn, listIn, logprobIn, numberIn, objectIn, textIn } from "./wire-values.ts";
import type { TokenAdapter } from "./adapter.ts";
import { llamacppSampling } from "./sampling-wire.ts";

/** One for each token; null where none was reported. */
function alignLogprobs(
  tokens: readonly number[],
  reported: readonly JsonFields[],
): readonly (number | null)[] {
  if (reported.length === tokens.length) return reported.map(({ logprob }) => logprobIn(logprob));
  let next = 0;
  return tokens.map((token) =>
    reported[next]?.id === token ? logprobIn(reported[next++]?.logprob) : null,
  );
}

function read(json: unknown): ResponseChunk {
  const response = objectIn(json);
  const probabilities = listIn(response.completion_probabilities ?? response.probs).map(objectIn);
  const reported = probabilities.flatMap(({ id }) => numberIn(id) ?? []);
  const given = Array.from(idsIn(response.tokens) ?? []);
  const tokens = given.length > 0 ? given : reported;
  const isLast = response.stop === true;
  const sampled = numberIn(response.tokens_predicted);
  const promptTokens = numberIn(response.tokens_evaluated);
  const part: ResponsePart = {
    choice: 0,
    tokens,
    logprobs: alignLogprobs(tokens, probabilities),
    ...defined({
      sampled: tokens.length === 0 || sampled === 0 ? undefined : sampled,
      finish: isLast ? (response.stop_type === "limit" ? "length" : "stop") : undefined,
      stopString: response.stop_type === "word" ? textIn(response.stopping_word) : undefined,
    }),
  };
  if (promptTokens === undefined) return { parts: [part] };
  return { usage: { promptTokens, completionTokens: sampled ?? 0 }, parts: [part] };
}

export const llamacppTokens: TokenAdapter = {
  path: "/completion",
  supportsN: false,
  // Of the tokens that make one character, its streams report only the last.
  streams: false,
  body: ({ tokens, params, stream }) => ({
    prompt: Array.from(tokens),
    n_predict: params.maxTokens,
    ...llamacppSampling(params),
    n_probs: 1,
    post_sampling_probs: false,
    return_tokens: true,
    cache_prompt: true,
    stream,
  }),
  read,
};
