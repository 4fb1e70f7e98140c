/** The backend of a run: what code passed, else what the options name. */
import type { TrainConfig } from "../config/train-config.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { EventListener } from "../trainer/events.ts";
import { type BackendListeners, createBackend } from "./create-backend.ts";

/** A backend for the time of a run. */
export interface OpenBackend extends AsyncDisposable {
  readonly backend: TrainingBackend;
}

interface PassedBackend extends Pick<BackendListeners, "onPull"> {
  readonly backend: TrainingBackend | null;
  readonly listeners: readonly EventListener[];
}

/** Disposing leaves alone the backend that was passed, and disposes of one that was created. */
export async function openBackend(
  config: TrainConfig,
  folder: string,
  { backend: passed, onPull, listeners }: PassedBackend,
): Promise<OpenBackend> {
  if (passed !== null) return { backend: passed, [Symbol.asyncDispose]: async () => {} };
  const tell = (type: "warning" | "notice", message: string): void => {
    const event = { type, message, step: 0, time: Date.now() } as const;
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        // The run reports a listener that throws at its own next event.
      }
    }
  };
  const backend = await createBackend(config, folder, {
    ...(onPull === undefined ? {} : { onPull }),
    onWarning: (message) => tell("warning", message),
    onProgress: (message) => tell("notice", message),
  });
  return { backend, [Symbol.asyncDispose]: () => Promise.resolve(backend[Symbol.asyncDispose]()) };
}
