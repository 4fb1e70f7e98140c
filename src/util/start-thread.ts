/** Starts worker threads of this package, from the compiled files or from the sources. */
import { Worker, type WorkerOptions } from "node:worker_threads";

/** `path` is relative to `base`, the caller's `import.meta.url`, and has no extension. */
export function startThread(path: string, base: string, options: WorkerOptions = {}): Worker {
  if (!base.endsWith(".ts")) return new Worker(new URL(`${path}.js`, base), options);
  // Development and tests run the sources; a thread does not inherit the main thread's loader.
  const entry = JSON.stringify(new URL(`${path}.ts`, base).href);
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import(${entry}); })`;
  return new Worker(code, { ...options, eval: true });
}
