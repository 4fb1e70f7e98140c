/**
 * The policy as the rest of the system sees it: a `Sampler` continues token sequences, a `Renderer`
 * translates messages to tokens and back. Neither knows HTTP, sessions or training.
 */
import type { Grammar, LogitRules } from "./grammar.ts";
import type { ChatMessage, ToolCall, ToolDefinition } from "./message.ts";

/** What ends a completion, apart from `maxTokens`. */
export interface StopSpec {
  /** Sampling one of these ends the completion; the token itself belongs to it. */
  readonly tokenIds: readonly number[];
  /** Text that ends the completion; matched on decoded text by the component that holds the tokenizer. */
  readonly strings: readonly string[];
}

/** How tokens are sampled. Every field is required: defaults are applied where requests enter. */
export interface SamplingParams {
  /** 0 = greedy. */
  readonly temperature: number;
  /** Nucleus sampling (top-p): keep the most likely tokens up to this probability mass, in (0, 1]; 1 = off. */
  readonly topP: number;
  /** Keep the k most likely tokens; 0 = off. */
  readonly topK: number;
  /** Keep tokens with p >= minP * max p; 0 = off. */
  readonly minP: number;
  /** Maximum number of tokens to sample, the stop token included. At least 1. */
  readonly maxTokens: number;
  /** Tokens that end a completion; each belongs to it. */
  readonly stopTokenIds: readonly number[];
  /** Same seed, same weights, same prompt: same tokens, independent of batch composition. */
  readonly seed: number;
  /** Only for a sampler with `appliesLogitRules`. @default none */
  readonly rules?: LogitRules;
}

/** Sampling from the full distribution at temperature 1, at most 512 tokens. */
export const defaultSampling: Omit<SamplingParams, "seed" | "stopTokenIds"> = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  maxTokens: 512,
};

/** `stop`: a stop token or string; `length`: `maxTokens` or the context window; `aborted`: cancelled. */
export type StopReason = "stop" | "length" | "aborted";

/** Newly sampled tokens of one sequence, in order. */
export interface SampleChunk {
  /** Which of the `n` sequences. */
  readonly index: number;
  /** [chunk] token ids. */
  readonly tokens: Int32Array;
  /** Same length as `tokens`. */
  readonly logprobs: Float32Array;
}

/** One prompt, and how to continue it. */
export interface SampleRequest {
  /** The whole prompt. */
  readonly tokens: Int32Array;
  /** How to sample. */
  readonly params: SamplingParams;
  /** Sequences to sample from this prompt. @default 1 */
  readonly n?: number;
  /** Of `ModelSpec.adapters`; `null` is the base without any. @default the model's own adapter, or its weights */
  readonly adapter?: string | null;
  /**
   * Called as tokens are sampled, possibly before `sample` has returned; must not throw. Chunks of one
   * sequence arrive in order and add up to its result.
   */
  readonly onChunk?: (chunk: SampleChunk) => void;
  /** Aborting resolves with what was sampled so far and `stopReason: "aborted"`, within one step. */
  readonly signal?: AbortSignal;
}

/** A weight update while a sequence was being sampled. */
export interface WeightChange {
  /** Index of the first token sampled with the new weights, from 0. */
  readonly at: number;
  /** Version of the new weights. */
  readonly weightVersion: number;
}

/** One sampled completion of a prompt. */
export interface Sample {
  /** [sampled] token ids, a final stop token included. */
  readonly tokens: Int32Array;
  /**
   * [sampled] log p(token | before) under the model's full softmax at temperature 1 (natural log); with
   * `SamplingParams.rules`, of the logits that they leave.
   */
  readonly logprobs: Float32Array;
  /**
   * [sampled] the same under softmax(logits / temperature), before anything is cut off by `topP`, `topK` or
   * `minP`: the policy that sampled. Absent where `logprobs` are those (temperature 1 or 0), or unknown.
   */
  readonly temperedLogprobs?: Float32Array;
  /** What ended it. */
  readonly stopReason: StopReason;
  /** Version of the weights when the request was dispatched. */
  readonly weightVersion: number;
  /** Later versions that sampled a part of it, ascending; absent when none did. */
  readonly weightChanges?: readonly WeightChange[];
  /**
   * Where `maxTokens` excluded texts that the grammar of `SamplingParams.rules` has from the first token on: the least
   * `maxTokens` that excludes none of them. Absent where it excluded none.
   */
  readonly neededTokens?: number;
}

/** Tokens in, tokens out. */
export interface Sampler {
  /** Longest prompt + completion, in tokens. */
  readonly contextLength: number;
  /** It supports `SamplingParams.rules`. @default false */
  readonly appliesLogitRules?: boolean;
  /**
   * Returns `n` samples.
   * @throws ContextOverflowError when the prompt leaves no room for one token.
   */
  sample(request: SampleRequest): Promise<readonly Sample[]>;
}

/** A prompt as token ids. */
export interface RenderedPrompt {
  /** Ends where the assistant's next token is to be sampled. */
  readonly tokens: Int32Array;
}

/** What a prompt contains in addition to its messages. */
export interface RenderOptions {
  /** Tools that the model may call. @default none */
  readonly tools?: readonly ToolDefinition[];
  /** Whether the model is to reason first; for families where that can be chosen. @default as loaded */
  readonly thinking?: boolean;
  /**
   * The prompt must have fewer tokens than this: one that certainly has more is refused before its text
   * is encoded. @default no limit
   */
  readonly contextLength?: number;
}

/**
 * `Renderer`'s methods for long texts: long encodings run on another thread and do not block other
 * requests.
 */
export interface LongTextRenderer {
  render(
    messages: readonly ChatMessage[],
    options: RenderOptions,
    signal: AbortSignal,
  ): Promise<RenderedPrompt>;
  extend(
    previous: Int32Array,
    newMessages: readonly ChatMessage[],
    options: RenderOptions,
    signal: AbortSignal,
  ): Promise<RenderedPrompt | null>;
  encode(text: string, options: RenderOptions, signal: AbortSignal): Promise<Int32Array>;
}

/** A completion read back as a message. */
export interface ParsedCompletion {
  /** The text without reasoning and tool calls. */
  readonly content: string;
  /** What the model wrote between its reasoning markers. */
  readonly reasoning?: string;
  /** Without ids: the gateway makes them. Empty when there are none. */
  readonly toolCalls: readonly Omit<ToolCall, "id">[];
  /**
   * Why something that looked like a tool call could not be read, and is in `content`; or that a call's tool was not
   * offered, or does not take a value of it.
   */
  readonly malformed?: string;
}

/** What a completion is read with. */
export interface ReadOptions {
  /**
   * Tools that the request offered: values that a family writes without types get those of their schemas. Where it
   * offered none, what looks like a call is text. @default not known
   */
  readonly tools?: readonly ToolDefinition[];
  /** As in `RenderOptions`. */
  readonly thinking?: boolean;
  /** The completion ends where one of them begins. @default none */
  readonly stops?: readonly string[];
}

/** Newly certain text of a completion. */
export interface TextDelta {
  readonly content: string;
  readonly reasoning: string;
}

/** Reads a completion while it is sampled. However its tokens are cut, it is the same message. */
export interface CompletionReader {
  /** Returns the text that became certain: those of all calls are the beginning of the message. */
  push(tokens: Int32Array): TextDelta;
  /** The stop string that is complete; later tokens do not count. */
  readonly stopString: string | undefined;
  /** Tokens that count. */
  readonly length: number;
  finish(): ParsedCompletion;
}

/** The form that a completion is to have. */
export interface CompletionForm {
  /** What it is where it calls nothing. @default any text */
  readonly content?: Grammar;
  /** Tools that it may call. */
  readonly tools: readonly ToolDefinition[];
  /** Names of those whose arguments have to be valid under their schemas. */
  readonly strict: readonly string[];
  /** 1: it has to call one. */
  readonly minCalls: 0 | 1;
  /** null: any number. */
  readonly maxCalls: number | null;
}

/** Messages to tokens and back, for one model family. Pure; parsing never throws. */
export interface Renderer {
  /** Name of the family, for messages and traces ("chatml", "llama3" ...). */
  readonly family: string;
  /** What ends an assistant turn in this family. */
  readonly stop: StopSpec;
  render(messages: readonly ChatMessage[], options?: RenderOptions): RenderedPrompt;
  /**
   * The prompt of a later turn: `previous` (an earlier prompt plus what was sampled after it,
   * unchanged, id by id) followed by `newMessages`. Never re-encodes what was sampled. `previous` may
   * lack the end-of-turn token (a length limit, a stop string); the renderer then closes the turn.
   * `null` when this family cannot continue there (the caller then renders from scratch).
   */
  extend(
    previous: Int32Array,
    newMessages: readonly ChatMessage[],
    options?: RenderOptions,
  ): RenderedPrompt | null;
  /**
   * Reads sampled tokens, with or without the final stop token. Reasoning that was not closed is
   * `reasoning`; a tool call that was not closed makes the completion `malformed`.
   */
  parse(tokens: Int32Array, options?: ReadOptions): ParsedCompletion;
  /** Reads the same as `parse`, piece by piece. */
  reader(options?: ReadOptions): CompletionReader;
  /** The completions that have a form; null, or absent, where that cannot be said of this family. */
  grammar?(form: CompletionForm): Grammar | null;
  /** Plain text to ids, without special tokens; absent where a family cannot do it. */
  encode?(text: string): Int32Array;
  /** Text of these tokens, without special tokens. */
  decode(tokens: Int32Array): string;
  /** Text of these tokens with special tokens in their own spelling, for people; absent where unknown. */
  inspect?(tokens: Int32Array): string;
  /** Whether `RenderOptions.thinking` changes what is rendered. @default false: it has no effect */
  readonly choosesThinking?: boolean | undefined;
  /** Maximum UTF-8 bytes that one token represents; absent where there is no maximum. */
  readonly longestToken?: number | undefined;
  /** The same results without blocking the thread; absent where a family does not support it. */
  readonly long?: LongTextRenderer;
}
