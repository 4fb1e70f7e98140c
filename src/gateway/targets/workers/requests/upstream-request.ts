/** One request and its answer, piece by piece. Knows neither retries nor where it runs. */
import type { AnswerPiece } from "../response-part.ts";
import type { PhaseDeadlines } from "../http-request.ts";
import { readJsonAnswers } from "../json-responses.ts";
import { speak, type Ask } from "./worker-request.ts";
import type { Connection } from "./connection.ts";

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<PhaseDeadlines>;
}

/** The pieces that came together are given together. @throws UpstreamError, or the signal's reason. */
export async function* exchange(
  connection: Connection,
  ask: Ask,
  options: ExchangeOptions,
): AsyncGenerator<readonly AnswerPiece[], void, undefined> {
  const { path, body, read } = speak(ask);
  const answer = await connection.send({ path, body, ...options });
  for await (const values of readJsonAnswers(answer, connection.options.workerId)) {
    yield values.map(read);
  }
}
