/**
 * llama.cpp's native `/completion`. It gives the ids of all tokens, but of tokens that make one character
 * together the log-probability of the last only.
 */
import type { JsonFields } from "../../../http/json-fields.ts";
import type { AnswerPart, AnswerPiece } from "../response-part.ts";
import { defined, idsIn, listIn, logprobIn, numberIn, objectIn, textIn } from "../wire-values.ts";
import type { TokenDialect } from "./adapter.ts";
import { llamacppSampling } from "./sampling-wire.ts";

/** One for each token; null where none was told. */
function alignLogprobs(
  tokens: readonly number[],
  told: readonly JsonFields[],
): readonly (number | null)[] {
  if (told.length === tokens.length) return told.map(({ logprob }) => logprobIn(logprob));
  let next = 0;
  return tokens.map((token) =>
    told[next]?.id === token ? logprobIn(told[next++]?.logprob) : null,
  );
}

function read(json: unknown): AnswerPiece {
  const answer = objectIn(json);
  const probabilities = listIn(answer.completion_probabilities ?? answer.probs).map(objectIn);
  const told = probabilities.flatMap(({ id }) => numberIn(id) ?? []);
  const given = Array.from(idsIn(answer.tokens) ?? []);
  const tokens = given.length > 0 ? given : told;
  const isLast = answer.stop === true;
  const drawn = numberIn(answer.tokens_predicted);
  const promptTokens = numberIn(answer.tokens_evaluated);
  const part = defined<AnswerPart>({
    choice: 0,
    tokens,
    logprobs: alignLogprobs(tokens, probabilities),
    drawn: tokens.length === 0 || drawn === 0 ? undefined : drawn,
    finish: isLast ? (answer.stop_type === "limit" ? "length" : "stop") : undefined,
    stopString: answer.stop_type === "word" ? textIn(answer.stopping_word) : undefined,
  });
  return defined<AnswerPiece>({
    usage: promptTokens === undefined ? undefined : { promptTokens, completionTokens: drawn ?? 0 },
    parts: [part],
  });
}

export const llamacppTokens: TokenDialect = {
  path: "/completion",
  drawsMany: false,
  // Of the tokens that make one character, its streams tell the last only.
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
