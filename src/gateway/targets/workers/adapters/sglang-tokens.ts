/** SGLang's native `/generate`. */
import type { AnswerPart, AnswerPiece } from "../response-part.ts";
import { defined, idsIn, numberIn, objectIn, textIn } from "../wire-values.ts";
import type { TokenDialect } from "./adapter.ts";
import { readDrawn } from "./openai-wire.ts";
import { sglangSampling } from "./sampling-wire.ts";

function readOne(json: unknown, place: number): AnswerPart {
  const answer = objectIn(json);
  const meta = objectIn(answer.meta_info);
  const finish = objectIn(meta.finish_reason);
  const ids = idsIn(answer.output_ids);
  // Ids and logprobs of one list belong together; `output_ids` alone has no logprobs.
  const { tokens = ids, logprobs } = readDrawn({ meta_info: meta }, false);
  const drawn = numberIn(meta.completion_tokens);
  return defined<AnswerPart>({
    choice: numberIn(answer.index) ?? place,
    tokens,
    logprobs,
    drawn: drawn === 0 ? undefined : drawn,
    finish: textIn(finish.type),
    stopString: textIn(finish.matched),
  });
}

function read(json: unknown): AnswerPiece {
  const answers: readonly unknown[] = Array.isArray(json) ? json : [json];
  const parts = answers.map(readOne);
  const promptTokens = numberIn(objectIn(objectIn(answers[0]).meta_info).prompt_tokens);
  return defined<AnswerPiece>({
    promptIds: idsIn(objectIn(answers[0]).prompt_token_ids),
    usage: promptTokens === undefined ? undefined : { promptTokens, completionTokens: 0 },
    parts,
  });
}

export const sglangTokens: TokenDialect = {
  path: "/generate",
  drawsMany: true,
  streams: true,
  body: ({ tokens, params, n, stream }) => ({
    input_ids: Array.from(tokens),
    sampling_params: { ...sglangSampling(params), n, no_stop_trim: true },
    return_logprob: true,
    logprob_start_len: -1,
    top_logprobs_num: 0,
    return_text_in_logprobs: false,
    stream,
  }),
  read,
};
