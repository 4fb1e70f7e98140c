/** A finished call in OpenAI's shape of a text completion. */
import type { Renderer } from "../../../core/policy.ts";
import type { CallResult, Completion } from "../../call/call-request.ts";
import { messageText } from "../../../core/message-text.ts";
import { tokenTextsOf } from "../../call/token-texts.ts";
import { finishReason, toWireUsage } from "../chat/response.ts";

type Wire = Readonly<Record<string, unknown>>;

/** Log-probabilities of the sampled tokens. */
function toTextLogprobs(completion: Completion, renderer: Renderer): Wire {
  const sampled = tokenTextsOf(completion, renderer);
  const hasTops = sampled.some(({ topLogprobs }) => topLogprobs.length > 0);
  const decoder = new TextDecoder();
  let offset = 0;
  return {
    tokens: sampled.map(({ text }) => text),
    token_logprobs: Array.from(completion.logprobs),
    top_logprobs: hasTops
      ? sampled.map(({ topLogprobs }) =>
          Object.fromEntries(topLogprobs.map(({ text, logprob }) => [text, logprob])),
        )
      : null,
    // A character that several tokens make begins with the last of them.
    text_offset: sampled.map(({ text, bytes }) => {
      const start = offset;
      const own = bytes === undefined ? Buffer.from(text) : Uint8Array.from(bytes);
      offset += decoder.decode(own, { stream: true }).length;
      return start;
    }),
  };
}

export interface CompletionsOptions {
  readonly model: string;
  readonly renderer: Renderer;
  readonly logprobs: boolean;
}

export function toTextChoice(
  completion: Completion,
  text: string,
  { logprobs, renderer }: CompletionsOptions,
): Wire {
  return {
    index: completion.choice,
    text,
    logprobs: logprobs ? toTextLogprobs(completion, renderer) : null,
    finish_reason: finishReason(completion),
  };
}

export function toTextCompletion(result: CallResult, options: CompletionsOptions): Wire {
  return {
    id: result.responseId,
    object: "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: options.model,
    choices: result.completions.map((completion) =>
      toTextChoice(completion, messageText(completion.message.content, { image: "url" }), options),
    ),
    usage: toWireUsage(result),
  };
}
