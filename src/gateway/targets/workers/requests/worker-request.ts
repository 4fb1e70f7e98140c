/** A request to a server as plain data, and how that is written and read. */
import type { WorkerKind } from "../../../../core/backend.ts";
import { anthropicBody, anthropicPath, readAnthropicResponse } from "../adapters/anthropic-wire.ts";
import type { ResponseChunk } from "../adapters/response-part.ts";
import { chatBody, chatPath, readChatResponse, type ChatRequest } from "../adapters/chat-wire.ts";
import type { TokenRequest, TokenAdapter } from "../adapters/adapter.ts";
import { tokenAdapters } from "../adapters/token-adapters.ts";

/** Messages for a server that renders them, or ids for one that takes those. */
export type WorkerRequest =
  | { readonly form: "messages"; readonly request: ChatRequest }
  | { readonly form: "tokens"; readonly kind: WorkerKind; readonly request: TokenRequest };

export interface Spoken {
  readonly path: string;
  readonly body: object;
  /** One response or event. */
  readonly read: (json: unknown) => ResponseChunk;
}

/** The kind must be one that has an adapter. */
export function speak(requested: WorkerRequest): Spoken {
  if (requested.form === "messages") {
    const { request } = requested;
    if (request.kind === "anthropic") {
      return { path: anthropicPath, body: anthropicBody(request), read: readAnthropicResponse };
    }
    return {
      path: chatPath(request),
      body: chatBody(request),
      read: (json) => readChatResponse(json, request),
    };
  }
  const { kind, request } = requested;
  const adapter = tokenAdapters[kind] as TokenAdapter;
  return {
    path: adapter.path,
    body: adapter.body(request),
    read: (json) => adapter.read(json, request.n),
  };
}
