/** vLLM's `/v1/completions` with a prompt of token ids. */
import type { AnswerPart, AnswerPiece } from "../response-part.ts";
import { defined, idsIn, listIn, numberIn, objectIn, textIn } from "../wire-values.ts";
import type { TokenDialect } from "./adapter.ts";
import { readDrawn, readFinish, readUsage } from "./openai-wire.ts";
import { vllmSampling } from "./sampling-wire.ts";

/** An answer of a text completions route. */
export function readTextAnswer(json: unknown, n: number, wantsTexts = false): AnswerPiece {
  const answer = objectIn(json);
  const choices = listIn(answer.choices).map(objectIn);
  // Counted for one choice, but only a whole answer counts all of them.
  const counted = n === 1 ? numberIn(objectIn(answer.usage).completion_tokens) : undefined;
  return defined<AnswerPiece>({
    promptIds: idsIn(answer.prompt_token_ids) ?? idsIn(choices[0]?.prompt_token_ids),
    usage: readUsage(answer.usage),
    parts: choices.map((choice) =>
      defined<AnswerPart>({
        choice: numberIn(choice.index) ?? 0,
        ...readDrawn(choice, wantsTexts),
        ...readFinish(choice),
        content: textIn(choice.text),
        drawn: counted === 0 ? undefined : counted,
      }),
    ),
  });
}

export const vllmTokens: TokenDialect = {
  path: "/v1/completions",
  drawsMany: true,
  streams: true,
  body: ({ tokens, params, n, model, stream }) => ({
    model,
    prompt: Array.from(tokens),
    add_special_tokens: false,
    n,
    ...vllmSampling(params),
    logprobs: 0,
    return_token_ids: true,
    // What servers older than `return_token_ids` understand.
    return_tokens_as_token_ids: true,
    stream,
    ...(stream ? { stream_options: { include_usage: true, continuous_usage_stats: n === 1 } } : {}),
  }),
  read: (json, n) => readTextAnswer(json, n),
};
