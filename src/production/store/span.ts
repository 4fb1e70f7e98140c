/**
 * What is kept of production, whatever it was recorded with: spans of traces. A span is a call of a model, a
 * call of a tool, an agent, or something else that only connects others.
 */
import type { Completeness } from "../../core/completeness.ts";
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";

/** A call of a model. */
export interface ModelCall {
  readonly model: string;
  /** The whole conversation before the response; empty where the program records no text. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** null where the call failed, or the program records no text. */
  readonly response: ChatMessage | null;
  /** Whether it is all that the model said, with all that it rests on. */
  readonly completeness: Completeness;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  /** The response's `id`, for feedback. */
  readonly responseId?: string;
  /** Where `serve` responded. */
  readonly weightVersion?: number;
}

/** A call of a tool. */
export interface ToolRun {
  readonly name: string;
  readonly callId?: string;
  /** JSON as text; absent where the program records no text. */
  readonly arguments?: string;
  readonly result?: string;
}

/** A span of a trace, as it is kept. */
export interface Span {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: "model" | "tool" | "agent" | "other";
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  /** What failed; absent where nothing did. */
  readonly error?: string;
  /** A session or thread: traces of one conversation. */
  readonly conversationId?: string;
  readonly user?: string;
  readonly model?: ModelCall;
  readonly tool?: ToolRun;
  /** What it was recorded with: "otel", "ai-sdk", "langfuse" ... */
  readonly source: string;
}
