/** A finished call in OpenAI's shape of a chat completion. */
import type { Renderer } from "../../../core/policy.ts";
import {
  usageOf,
  type CallResult,
  type Completion,
  type TokenText,
} from "../../call/call-request.ts";
import { tokenTextsOf } from "../../call/token-texts.ts";
import { toWireMessage } from "../../http/wire.ts";

type Wire = Readonly<Record<string, unknown>>;

export function finishReason(
  completion: Completion,
): "content_filter" | "length" | "stop" | "tool_calls" {
  if (completion.isFiltered === true) return "content_filter";
  if (completion.stopReason === "length") return "length";
  return completion.message.toolCalls ? "tool_calls" : "stop";
}

function toWireToken({ text, bytes }: Omit<TokenText, "topLogprobs">, logprob?: number): Wire {
  return { token: text, logprob, bytes: bytes ?? Array.from(Buffer.from(text)) };
}

/** Log-probabilities of the sampled tokens; those at the sampling temperature too, by Fireworks' name. */
export function toWireLogprobs(completion: Completion, renderer: Renderer): Wire {
  const { logprobs, temperedLogprobs } = completion;
  const content = tokenTextsOf(completion, renderer).map((token, i) => ({
    ...toWireToken(token, logprobs[i]),
    ...(temperedLogprobs === undefined ? {} : { sampling_logprob: temperedLogprobs[i] }),
    top_logprobs: token.topLogprobs.map((top) => toWireToken(top, top.logprob)),
  }));
  return { content, refusal: null };
}

export function toWireUsage(result: CallResult): Wire {
  const { promptTokens, completionTokens, cachedTokens = 0, reasoningTokens } = usageOf(result);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    ...(reasoningTokens === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

export interface ResponseOptions {
  readonly model: string;
  readonly renderer: Renderer;
  readonly logprobs: boolean;
}

export function toWireCompletion(result: CallResult, options: ResponseOptions): Wire {
  return {
    id: result.responseId,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: options.model,
    choices: result.completions.map((completion) => ({
      index: completion.choice,
      message: { ...toWireMessage(completion.message), refusal: null },
      logprobs: options.logprobs ? toWireLogprobs(completion, options.renderer) : null,
      finish_reason: finishReason(completion),
    })),
    usage: toWireUsage(result),
  };
}
