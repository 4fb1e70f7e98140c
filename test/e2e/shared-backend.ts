/** One engine for many runs: each begins with the weights that were loaded, and none ends it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InferenceTarget, TrainingBackend } from "agent-trainer/backend";
import { createLocalBackend } from "agent-trainer/local";

export interface SharedBackend extends AsyncDisposable {
  /** A backend for one run. */
  next(): TrainingBackend;
}

export async function shareBackend(model: string): Promise<SharedBackend> {
  const backend = createLocalBackend();
  const folder = await mkdtemp(join(tmpdir(), "agent-trainer-shared-"));
  const { signal } = new AbortController();
  const target: InferenceTarget = await backend.start({
    seed: 1,
    model: { name: model, lora: null },
    signal,
  });
  await backend.saveState(folder);
  return {
    next: () => ({
      name: backend.name,
      capabilities: backend.capabilities,
      async start() {
        await backend.loadState(folder, 0);
        return target;
      },
      updatePolicy: (rows, loss, optim) => backend.updatePolicy(rows, loss, optim),
      forward: (rows, which) => backend.forward(rows, which),
      publishWeights: () => backend.publishWeights(),
      saveState: (to) => backend.saveState(to),
      loadState: (from, version) => backend.loadState(from, version),
      async [Symbol.asyncDispose]() {},
    }),
    async [Symbol.asyncDispose]() {
      await backend[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
