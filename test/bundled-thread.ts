/** Instead of src/util/start-thread.ts, in tests and in programs that they bundle: see bundle-threads.ts. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";

export function startThread(path: string, base: string, options: WorkerOptions = {}): Worker {
  const name = new URL(path, base).pathname.replace(/^.*\/src\//u, "");
  const file = join(process.env["TEST_THREADS"] ?? "", `${name}.mjs`);
  if (!existsSync(file))
    throw new Error(`test/bundle-threads.ts does not name the thread ${name}.`);
  return new Worker(file, options);
}
