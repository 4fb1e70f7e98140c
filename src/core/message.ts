/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Who a message is from; `tool` is the result of a tool call. */
export type Role = "system" | "user" | "assistant" | "tool";

/** One tool call of an assistant message. */
export interface ToolCall {
  /** Made by the gateway, unique within a session; `toolCallId` of the result refers to it. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** JSON text. Kept as text, because what the model wrote may not be an object. */
  readonly arguments: string;
}

/** A piece of text in a message. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** An image by URL or data URL. Text-only renderers refuse it by name. */
export interface ImagePart {
  readonly type: "image";
  readonly url: string;
}

/** A piece of a message's content. */
export type ContentPart = TextPart | ImagePart;

/** One message of a conversation. */
export interface ChatMessage {
  /** Who it is from. */
  readonly role: Role;
  /** Its text, or its pieces in order. */
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
  /** Name by which the model calls it. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description?: string;
  /** JSON Schema of the arguments object. */
  readonly parameters?: JsonObject;
  /** `parameters` as the client wrote them, where the values lose digits or the order of keys. */
  readonly parametersText?: string;
}
