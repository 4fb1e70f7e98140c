/** One chat completion over `fetch`, for workflows without an SDK. */
import type { AgentConfig, TrajectoryHandle } from "../../core/agent.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { readLimited } from "../../util/read-limited.ts";

/** A message in OpenAI's wire format. */
export interface WireMessage {
  readonly role: string;
  readonly [field: string]: unknown;
}

/** Fields of the request other than `model` and `messages`: `tools`, `tool_choice`, `max_tokens` ... */
export type ModelCallOptions = Readonly<Record<string, unknown>>;

/** A tool call in OpenAI's wire format. */
export interface WireToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The response of the model. */
export interface ModelOutput {
  /** Id of the response; it identifies the captured call and its token ids. */
  readonly responseId: string;
  /** The message as received; add it to the conversation unchanged. */
  readonly message: WireMessage;
  /** The text of the message; "" when there is none. */
  readonly content: string;
  /** Its reasoning; "" when there is none. */
  readonly reasoning: string;
  /** Its tool calls, in order; empty when there are none. */
  readonly toolCalls: readonly WireToolCall[];
  /** Why the response ended; `length` means that it was truncated by the token limit. */
  readonly finishReason: string;
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Tokens of the completion. */
  readonly completionTokens: number;
}

interface WireResponse {
  readonly id: string;
  readonly choices: readonly {
    readonly message: WireMessage & {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly WireToolCall[];
    };
    readonly finish_reason: string;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** More than any model writes, with the log probabilities of each token. */
const maxResponseBytes = 256 * 2 ** 20;

/** @throws AgentTrainerError (`ROLLOUT_FAILED`) with the server's response as its cause. */
export async function callModel(
  config: Pick<AgentConfig, "model" | "signal">,
  endpoint: Pick<TrajectoryHandle, "baseUrl" | "apiKey">,
  messages: readonly WireMessage[],
  options: ModelCallOptions = {},
): Promise<ModelOutput> {
  const response = await fetch(`${endpoint.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${endpoint.apiKey}` },
    body: JSON.stringify({ ...options, model: config.model, messages }),
    signal: config.signal,
  });
  const text = await readLimited(response, maxResponseBytes, () => tooLarge(response.status));
  if (!response.ok) throw refused(response.status, text);
  const { id, choices, usage } = JSON.parse(text) as WireResponse;
  const [choice] = choices;
  if (choice === undefined) throw refused(response.status, text);
  const { message, finish_reason } = choice;
  return {
    responseId: id,
    message,
    content: message.content ?? "",
    reasoning: message.reasoning_content ?? "",
    toolCalls: message.tool_calls ?? [],
    finishReason: finish_reason,
    promptTokens: usage?.prompt_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? 0,
  };
}

function tooLarge(status: number): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `The response to a model call of the workflow is larger than ${maxResponseBytes / 2 ** 20} MiB.`,
    fields: { status },
  });
}

function refused(status: number, text: string): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `A model call of the workflow was answered with status ${status}: ${text.slice(0, 500)}`,
    // Contains the server's own code, which identifies a prompt that is too long.
    cause: readJson(text),
    fields: { status },
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
