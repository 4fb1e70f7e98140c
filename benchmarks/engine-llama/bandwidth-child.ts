/** Child: how fast memory can be read, by as many threads as the engine computes with. */
import { Worker } from "node:worker_threads";
import { answer } from "../harness/child-side.ts";

export interface BandwidthInput {
  readonly threads: number;
}

export interface BandwidthOutput {
  /** Best of several rounds. */
  readonly bytesPerSecond: number;
}

/** Larger than every cache. */
const bytes = 512 * 2 ** 20;
const rounds = 6;

/** Equal buffers are read to their ends, by the C library's comparison. */
const reader = `
const { parentPort } = require("node:worker_threads");
const a = Buffer.alloc(${bytes / 2}, 1);
const b = Buffer.alloc(${bytes / 2}, 1);
parentPort.on("message", () => {
  const start = performance.timeOrigin + performance.now();
  if (!a.equals(b)) throw new Error("not equal");
  parentPort.postMessage({ start, end: performance.timeOrigin + performance.now() });
});
parentPort.postMessage(null);
`;

const next = <T>(worker: Worker): Promise<T> =>
  new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });

answer(async ({ threads }: BandwidthInput): Promise<BandwidthOutput> => {
  const workers = Array.from({ length: threads }, () => new Worker(reader, { eval: true }));
  await Promise.all(workers.map((worker) => next(worker)));
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const times = await Promise.all(
      workers.map((worker) => {
        const answered = next<{ start: number; end: number }>(worker);
        worker.postMessage(null);
        return answered;
      }),
    );
    const start = Math.min(...times.map((time) => time.start));
    const end = Math.max(...times.map((time) => time.end));
    best = Math.max(best, (threads * bytes) / ((end - start) / 1000));
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  return { bytesPerSecond: best };
});
