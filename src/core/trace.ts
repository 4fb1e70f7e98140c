/** One captured model call: the request and what was sampled, token by token. Immutable. */
import type { ChatMessage, JsonObject, ToolDefinition } from "./message.ts";
import type { SamplingParams, StopReason, WeightChange } from "./policy.ts";

export type Protocol =
  | "openai-chat"
  | "openai-completions"
  | "openai-responses"
  | "anthropic-messages";

/** One choice of one model call as the gateway captured it: messages, token ids, log-probabilities. */
export interface Trace {
  readonly id: string;
  /** The id that the client saw in the response (`chatcmpl-...`); the same for all choices of a call. */
  readonly responseId: string;
  readonly sessionUid: string;
  /** Trajectory named by the URL; null when the call came through the session's own URL. */
  readonly trajectoryUid: string | null;
  /** Order of dispatch within the session, from 0. */
  readonly sequence: number;
  /** Which of the call's choices this is, from 0. */
  readonly choice: number;
  readonly protocol: Protocol;
  /** The model name that the agent requested. */
  readonly model: string;
  /** Messages of the request. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** The assistant message that the client received. */
  readonly response: ChatMessage;
  /** Why a tool call could not be read, or in what it differs from its tool. */
  readonly malformed?: string;
  /** [prompt] ids of the model's input. */
  readonly promptIds: Int32Array;
  /** [sampled] ids that were sampled, a final stop token included. */
  readonly responseIds: Int32Array;
  /** [sampled] log-probabilities of `responseIds`, natural log. */
  readonly logprobs: Float32Array;
  /** `raw`: full softmax at temperature 1; `processed`: after temperature and truncation. */
  readonly logprobKind: "raw" | "processed";
  /** @see Sample.temperedLogprobs */
  readonly temperedLogprobs?: Float32Array;
  /** Adapter that sampled, where roles have adapters; null is the base without any. */
  readonly adapter?: string | null;
  readonly stopReason: StopReason;
  /** Version of the weights when the call was dispatched; null where it is unknown to the gateway. */
  readonly weightVersion: number | null;
  /** Later versions that sampled a part of the response, ascending; absent when none did. */
  readonly weightChanges?: readonly WeightChange[];
  /** The parameters actually used, after the trainer's overrides. */
  readonly sampling: SamplingParams;
  /** Trace whose tokens are a prefix of this prompt, id by id; null for a prompt rendered from scratch. */
  readonly parentId: string | null;
  /** Tokens as the inference server counted them, where it returned no ids; on the first choice of a call. */
  readonly usage?: {
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly cachedTokens?: number;
  };
  /** Why this call cannot be trained on (client gone, no token ids ...); absent when it can. */
  readonly untrainable?: string;
  /** Id of the inference server that responded; absent where the model is in this process. */
  readonly worker?: string;
  /**
   * What was asked of the response's form and is not true of it: a schema, a required tool call. The tokens are
   * the model's own all the same, so the call is trained on.
   */
  readonly unmet?: string;
  /**
   * What was asked of the response's form and was not enforced while sampling, with the field and the place in
   * its schema; absent where all was. The response may have it all the same.
   */
  readonly unenforced?: readonly string[];
  /** @see Sample.neededTokens */
  readonly neededTokens?: number;
  /**
   * The rule by which it is a call next to the task; set when a rollout ends. Where that keeps it out of training,
   * its trajectory is `untrained`.
   */
  readonly sideCall?: string;
  /** Fields beyond sampling, as requested: `response_format`, `tool_choice` ... */
  readonly serverFields?: JsonObject;
  /**
   * OpenAI Responses: a later call that names this response takes over the messages from this index on;
   * absent where it cannot be referenced.
   */
  readonly recallFrom?: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** When the first chunk of the response arrived; absent where it came as a whole. */
  readonly firstTokenAt?: number;
  readonly finishedAt: number;
}
