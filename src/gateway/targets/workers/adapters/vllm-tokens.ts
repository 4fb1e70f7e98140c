/** vLLM's `/v1/completions` with a prompt of token ids. */
import type { ResponseChunk } from "./response-part.ts";
import { defined } from "../../../../util/defined.ts";
import { idsIn, listIn, numberIn, objectIn, textIn } from "./wire-values.ts";
import type { TokenAdapter } from "./adapter.ts";
import { readSampled, readFinish, readUsage } from "./openai-wire.ts";
import { vllmSampling } from "./sampling-wire.ts";

/** A response of a text completions route. */
export function readTextResponse(json: unknown, n: number, wantsTexts = false): ResponseChunk {
  const response = objectIn(json);
  const choices = listIn(response.choices).map(objectIn);
  // Counted for one choice, but only a whole response counts all of them.
  const counted = n === 1 ? numberIn(objectIn(response.usage).completion_tokens) : undefined;
  return {
    ...defined({
      promptIds: idsIn(response.prompt_token_ids) ?? idsIn(choices[0]?.prompt_token_ids),
      usage: readUsage(response.usage),
    }),
    parts: choices.map((choice) => ({
      choice: numberIn(choice.index) ?? 0,
      ...readSampled(choice, wantsTexts),
      ...readFinish(choice),
      ...defined({
        content: textIn(choice.text),
        sampled: counted === 0 ? undefined : counted,
      }),
    })),
  };
}

export const vllmTokens: TokenAdapter = {
  path: "/v1/completions",
  supportsN: true,
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
  read: (json, n) => readTextResponse(json, n),
};
