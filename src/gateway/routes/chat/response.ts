/** A finished call in OpenAI's shape of a chat completion. */
import type { Renderer } from "../../../core/policy.ts";
import type { CallResult, Completion } from "../../call-request.ts";
import { toWireMessage } from "../../wire.ts";

type Wire = Readonly<Record<string, unknown>>;

export function finishReason(completion: Completion): "stop" | "length" | "tool_calls" {
  if (completion.stopReason === "length") return "length";
  return completion.message.toolCalls ? "tool_calls" : "stop";
}

/** Log-probabilities of the drawn tokens. */
export function toWireLogprobs(completion: Completion, renderer: Renderer): Wire {
  const { tokens, logprobs } = completion;
  const content = Array.from(logprobs, (logprob, i) => {
    const token = renderer.decode(tokens.subarray(i, i + 1));
    return { token, logprob, bytes: Array.from(Buffer.from(token)), top_logprobs: [] };
  });
  return { content, refusal: null };
}

export function toWireUsage(result: CallResult): Wire {
  const drawn = result.completions.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    prompt_tokens: result.promptTokens,
    completion_tokens: drawn,
    total_tokens: result.promptTokens + drawn,
    prompt_tokens_details: { cached_tokens: 0 },
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
