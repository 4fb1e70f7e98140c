/** Calls by a number of connections at once, each waiting for its answer before the next. */
import { percentile } from "../harness/statistics.ts";

export interface LoadOptions {
  readonly connections: number;
  /** Of each connection. */
  readonly callsEach: number;
  /** Resolves when the whole answer has been read. */
  readonly call: (connection: number, index: number) => Promise<void>;
}

export interface LoadOutcome {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly callsPerSecond: number;
}

export async function runLoad({ connections, callsEach, call }: LoadOptions): Promise<LoadOutcome> {
  const latencies = new Float64Array(connections * callsEach);
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      for (let index = 0; index < callsEach; index++) {
        const sent = performance.now();
        await call(connection, index);
        latencies[connection * callsEach + index] = performance.now() - sent;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  return {
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    callsPerSecond: latencies.length / seconds,
  };
}
