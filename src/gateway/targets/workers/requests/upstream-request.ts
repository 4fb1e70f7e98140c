/** One request and its response, in chunks. Knows neither retries nor where it runs. */
import type { ResponseChunk } from "../adapters/response-part.ts";
import type { PhaseDeadlines } from "../http/http-request.ts";
import { readJsonResponses } from "../http/json-responses.ts";
import { ChunkMerger } from "./merge-chunks.ts";
import { speak, type WorkerRequest } from "./worker-request.ts";
import type { Connection } from "../http/connection.ts";

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
