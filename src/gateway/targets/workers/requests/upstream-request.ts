/**
 * One request to a server: as plain data, how that is written and read, and its response in chunks. Knows
 * neither retries nor where it runs.
 */
import type { WorkerKind } from "../../../../core/backend.ts";
import type { TokenAdapter, TokenRequest } from "../adapters/adapter.ts";
import { chatBody, chatPath, readChatResponse, type ChatRequest } from "../adapters/chat-wire.ts";
import type { ResponseChunk } from "../adapters/response-part.ts";
import { tokenAdapters } from "../adapters/token-adapters.ts";
import type { Connection } from "../http/connection.ts";
import type { PhaseDeadlines } from "../http/http-request.ts";
import { readJsonResponses } from "../http/json-responses.ts";
import { ChunkMerger } from "./merge-chunks.ts";

/** Messages for a server that renders them, or ids for one that takes those. */
export type WorkerRequest =
  | { readonly form: "messages"; readonly request: ChatRequest }
  | { readonly form: "tokens"; readonly kind: WorkerKind; readonly request: TokenRequest };

interface Spoken {
  readonly path: string;
  readonly body: object;
  /** One response or event. */
  readonly read: (json: unknown) => ResponseChunk;
}

/** The kind must be one that has an adapter. */
function speak(requested: WorkerRequest): Spoken {
  if (requested.form === "messages") {
    const { request } = requested;
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

export interface UpstreamRequestOptions {
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<PhaseDeadlines>;
}

/** Chunks that arrived together are yielded together, and merged where that changes nothing. @throws UpstreamError, or the signal's reason. */
export async function* runRequest(
  connection: Connection,
  request: WorkerRequest,
  options: UpstreamRequestOptions,
): AsyncGenerator<readonly ResponseChunk[], void, undefined> {
  const { path, body, read } = speak(request);
  const response = await connection.send({ path, body, ...options });
  const merger = new ChunkMerger();
  const all = readJsonResponses(response, connection.options.workerId, read);
  for await (const chunks of all) yield merger.merge(chunks);
}
