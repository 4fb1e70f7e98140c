/**
 * Chat messages and tools, in one neutral shape. Wire formats (OpenAI, Anthropic) are translated
 * to and from these at the gateway; renderers turn them into tokens.
 */

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

export type Role = "system" | "user" | "assistant" | "tool";

/** One tool call of an assistant message. */
export interface ToolCall {
  /** Made by the gateway, unique within a session; `toolCallId` of the result refers to it. */
  readonly id: string;
  readonly name: string;
  /** JSON text. Kept as text, because what the model wrote may not be an object. */
  readonly arguments: string;
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** An image by URL or data URL. Text-only renderers refuse it by name. */
export interface ImagePart {
  readonly type: "image";
  readonly url: string;
}

export type ContentPart = TextPart | ImagePart;

export interface ChatMessage {
  readonly role: Role;
  readonly content: string | readonly ContentPart[];
  /** Reasoning that the model wrote before its response; assistant only. */
  readonly reasoning?: string;
  /** Assistant only. */
  readonly toolCalls?: readonly ToolCall[];
  /** Tool only: the call whose result this message is. */
  readonly toolCallId?: string;
  /** Tool only: the tool's name, where the client sent it. */
  readonly name?: string;
}

/** A function that the agent offers to the model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments object. */
  readonly parameters?: JsonObject;
}
