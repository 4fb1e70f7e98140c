/** SGLang's native `/generate`. */
import type { ResponsePart, ResponseChunk } from "./response-part.ts";
import { defined } from "../../../../util/defined.ts";
import { idsIn, numberIn, objectIn, textIn } from "./wire-values.ts";
import type { TokenAdapter } from "./adapter.ts";
import { readSampled } from "./openai-wire.ts";
import { sglangSampling } from "./sampling-wire.ts";

function readOne(json: unknown, place: number): ResponsePart {
  const response = objectIn(json);
  const meta = objectIn(response.meta_info);
  const finish = objectIn(meta.finish_reason);
  const ids = idsIn(response.output_ids);
  // Ids and logprobs of one list belong together; `output_ids` alone has no logprobs.
  const { tokens = ids, logprobs } = readSampled({ meta_info: meta }, false);
  const sampled = numberIn(meta.completion_tokens);
  return {
    choice: numberIn(response.index) ?? place,
    ...defined({
      tokens,
      logprobs,
      sampled: sampled === 0 ? undefined : sampled,
      finish: textIn(finish.type),
      stopString: textIn(finish.matched),
    }),
  };
}

function read(json: unknown): ResponseChunk {
  const responses: readonly unknown[] = Array.isArray(json) ? json : [json];
  const parts = responses.map(readOne);
  const promptTokens = numberIn(objectIn(objectIn(responses[0]).meta_info).prompt_tokens);
  const promptIds = idsIn(objectIn(responses[0]).prompt_token_ids);
  const usage = promptTokens === undefined ? undefined : { promptTokens, completionTokens: 0 };
  return { ...defined({ promptIds, usage }), parts };
}

export const sglangTokens: TokenAdapter = {
  path: "/generate",
  supportsN: true,
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
