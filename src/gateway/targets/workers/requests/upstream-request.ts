/** One request and its answer, piece by piece. Knows neither retries nor where it runs. */
import type { ResponseChunk } from "../response-part.ts";
import type { PhaseDeadlines } from "../http-request.ts";
import { readJsonResponses } from "../json-responses.ts";
import { speak, type WorkerRequest } from "./worker-request.ts";
import type { Connection } from "./connection.ts";

export interface UpstreamRequestOptions {
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<PhaseDeadlines>;
}

/** The pieces that came together are given together. @throws UpstreamError, or the signal's reason. */
export async function* exchange(
  connection: Connection,
  request: WorkerRequest,
  options: UpstreamRequestOptions,
): AsyncGenerator<readonly ResponseChunk[], void, undefined> {
  const { path, body, read } = speak(request);
  const response = await connection.send({ path, body, ...options });
  for await (const values of readJsonResponses(response, connection.options.workerId)) {
    yield values.map(read);
  }
}
