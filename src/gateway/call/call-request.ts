/** A model call without its wire format: every protocol is translated to this. */
import type { ChatMessage, JsonObject, ToolDefinition } from "../../core/message.ts";
import type { LogitRules } from "../../core/grammar.ts";
import type { Sample, SamplingParams } from "../../core/policy.ts";
import type { Protocol } from "../../core/trace.ts";

/** The sampling fields that a client or a session may set. */
export type SamplingChoice = Partial<Omit<SamplingParams, "rules" | "seed" | "stopTokenIds">>;

export interface ToolChoice {
  /** The response has to call one. */
  readonly mustCall: boolean;
  /** Those that may be called, at least one; null for all. */
  readonly names: readonly string[] | null;
}

/** The tools that may be called. */
export const callableTools = ({ tools, toolChoice }: CallRequest): readonly ToolDefinition[] =>
  toolChoice?.names ? tools.filter(({ name }) => toolChoice.names!.includes(name)) : tools;

export interface CallRequest {
  readonly protocol: Protocol;
  /** As the agent named it. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** Empty also when the agent forbade their use. */
  readonly tools: readonly ToolDefinition[];
  /** Choices to sample, at least 1. */
  readonly n: number;
  readonly sampling: SamplingChoice;
  /** The client's own, mixed into the session's. */
  readonly seed?: number;
  readonly stops: readonly string[];
  /**
   * A prompt to be continued as it stands, as text or ids. `messages` then only shows it, and the
   * completion is text that is not read for reasoning or tool calls.
   */
  readonly rawPrompt?: string | readonly number[];
  /** Alternatives to each sampled token that the client wants to see; where the server gives them. */
  readonly topLogprobs?: number;
  /** Biases and penalties of logits; only for a target that applies them. */
  readonly logits?: Omit<LogitRules, "grammar">;
  /** Tools whose arguments have to be valid under their schemas. @default none */
  readonly strictTools?: readonly string[];
  /** At most one tool call in a response. @default false */
  readonly singleCall?: boolean;
  /** Which tools may be called, or have to be. @default any, and none has to be */
  readonly toolChoice?: ToolChoice;
  /** Whether the model is to reason first. @default as the model was loaded */
  readonly thinking?: boolean;
  /** How much, as OpenAI's `reasoning_effort` says it. */
  readonly effort?: string;
  /**
   * As OpenAI's chat requests have them: `response_format`, `tool_choice`, `chat_template_kwargs`. Servers that
   * render messages get them as they are.
   */
  readonly serverFields?: JsonObject;
  /** The same as JSON, where the values lose digits or the order of keys. */
  readonly serverFieldsText?: string;
  /** @see Trace.recallFrom */
  readonly recallFrom?: number;
}

/** A token as the server that sampled it writes it. */
export interface TokenText {
  readonly text: string;
  /** Its part of the response's UTF-8, which may end inside a character. @default those of `text` */
  readonly bytes?: readonly number[];
  readonly topLogprobs: readonly {
    readonly text: string;
    readonly bytes?: readonly number[];
    readonly logprob: number;
  }[];
}

/** One finished choice. */
export interface Completion extends Sample {
  readonly choice: number;
  readonly message: ChatMessage;
  readonly malformed?: string;
  /** @see Trace.unmet */
  readonly unmet?: string;
  /** The client's stop string that ended it; absent when something else did. */
  readonly stopString?: string;
  /** The provider's filter ended it. */
  readonly isFiltered?: true;
  /** Tokens of its reasoning; absent where a server read it. */
  readonly reasoningTokens?: number;
  /** One for each of the logprobs; absent where the renderer makes them. */
  readonly tokenTexts?: readonly TokenText[];
}

export interface CallResult {
  /** Id of the response, the same for all choices. */
  readonly responseId: string;
  readonly promptTokens: number;
  readonly completions: readonly Completion[];
  /** As the server counted; absent where tokens are counted. */
  readonly usage?: CallUsage;
}

export interface CallUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens?: number;
  /** Of the completion's, those of reasoning; absent where a server does not say. */
  readonly reasoningTokens?: number;
}

export function usageOf({ promptTokens, completions, usage }: CallResult): CallUsage {
  // Some servers count prompts only.
  if (usage && usage.completionTokens > 0) return usage;
  const sum = (of: (each: Completion) => number): number =>
    completions.reduce((all, each) => all + of(each), 0);
  const isKnown = completions.every(({ reasoningTokens }) => reasoningTokens !== undefined);
  return {
    ...usage,
    promptTokens,
    completionTokens: sum(({ tokens }) => tokens.length),
    ...(isKnown ? { reasoningTokens: sum((each) => each.reasoningTokens!) } : {}),
  };
}
