/** Asks one inference server what it is, without a gateway around it. */
import type { HttpWorker } from "../../../core/backend.ts";
import { probeWorker } from "./worker-probe.ts";
import { Worker, type WorkerFacts } from "./worker.ts";

/**
 * The server's kind, its model (the first that it lists, unless `worker.modelName` says another) and the
 * longest prompt + completion in tokens, Infinity where it does not tell.
 * @throws ConfigError for a bad URL, UpstreamError when it cannot be asked within `limitMs`.
 */
export async function askWorker(worker: HttpWorker, limitMs = 5_000): Promise<WorkerFacts> {
  const requested = new Worker(worker.id ?? worker.url, worker, {
    deadlines: { connectMs: limitMs, firstByteMs: limitMs, betweenBytesMs: limitMs },
    maxResponseBytes: 16_777_216,
    failuresToOpen: 1,
    reopenAfterMs: limitMs,
  });
  try {
    return await probeWorker(requested, "", limitMs);
  } finally {
    requested.close();
  }
}
