/** Responses of servers in chunks, without their wire formats. */
import type { CallUsage, TokenText } from "../../../call/call-request.ts";

/** A part of a tool call. */
export interface ToolCallPart {
  /** Of the call among those of its response, where the server says it. */
  readonly index?: number;
  /** It is a call, not a part of one. */
  readonly isWhole?: true;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

/** A part of one choice. */
export interface ResponsePart {
  readonly choice: number;
  /** Ids that are new, or all so far where `sampled` says so. */
  readonly tokens?: ArrayLike<number>;
  /** For `tokens`, one each; null where the server does not report it. */
  readonly logprobs?: readonly (number | null)[];
  readonly texts?: readonly TokenText[];
  /** Tokens sampled with this part, where the server counts. */
  readonly sampled?: number;
  readonly content?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCallPart[];
  /** OpenAI's name of the reason, or the server's own. */
  readonly finish?: string;
  /** What the server did that has no place in a message. */
  readonly unreadable?: string;
  /** The stop string that was met. */
  readonly stopString?: string;
}

export interface ResponseChunk {
  readonly promptIds?: ArrayLike<number>;
  readonly usage?: CallUsage;
  readonly parts: readonly ResponsePart[];
}
