/** A finished call in OpenAI's shape of a text completion. */
import type { Renderer } from "../../../core/policy.ts";
import type { CallResult, Completion } from "../../call/call-request.ts";
import { messageText } from "../../../core/message-text.ts";
import { tokenTextsOf } from "../../call/completion.ts";
import { toWireUsage } from "../chat/response.ts";

type Wire = Readonly<Record<string, unknown>>;

/** Log-probabilities of the sampled tokens. */
function toTextLogprobs(completion: Completion, renderer: Renderer): Wire {
  const sampled = tokenTextsOf(completion, renderer);
  const hasTops = sampled.some(({ topLogprobs }) => topLogprobs.length > 0);
  let offset = 0;
  return {
    tokens: sampled.map(({ text }) => text),
    token_logprobs: Array.from(completion.logprobs),
    top_logprobs: hasTops
      ? sampled.map(({ topLogprobs }) =>
          Object.fromEntries(topLogprobs.map(({ text, logprob }) => [text, logprob])),
        )
      : null,
    text_offset: sampled.map(({ text }) => (offset += text.length) - text.length),
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
    finish_reason: completion.stopReason === "length" ? "length" : "stop",
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
