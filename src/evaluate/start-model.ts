/** Starts what is evaluated: a backend with its model or a checkpoint's weights, or nothing for an endpoint. */
import { modelSpecOf } from "../config/model-spec.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import { createBackend } from "../launch/create-backend.ts";
import { type Checkpoint, servedState } from "../trainer/run-folder/checkpoint.ts";
import type { EvaluationRunOptions } from "./evaluation-options.ts";
import type { EvaluationConfig } from "./evaluation-config.ts";
import type { LocatedModel } from "./locate-model.ts";

export interface StartedModel extends AsyncDisposable {
  readonly target: InferenceTarget;
  readonly weightVersion: number;
  /** Serves another checkpoint of the same run; resolves with its version. Absent for what has none. */
  readonly load?: (checkpoint: Checkpoint) => Promise<number>;
}

type Given = Pick<EvaluationRunOptions<never>, "backend" | "onPull" | "onWarning">;

/** The same model as a run starts with, and then what the checkpoint holds. */
async function startBackend(
  backend: TrainingBackend,
  { model, trainer }: TrainConfig,
  located: LocatedModel,
  signal: AbortSignal,
): Promise<Omit<StartedModel, keyof AsyncDisposable>> {
  const target = await backend.start({
    seed: trainer.seed,
    model: modelSpecOf(model),
    signal,
  });
  if (located.kind !== "checkpoint") return { target, weightVersion: 0 };
  const load = async ({ weights, state }: Checkpoint): Promise<number> => {
    const { weightVersion } = servedState(state);
    await backend.loadState(weights, weightVersion);
    return weightVersion;
  };
  return { target, weightVersion: await load(located.checkpoint), load };
}

/** @throws whatever starting the backend throws; it is disposed of then. */
export async function startModel(
  located: LocatedModel,
  { config, folder }: EvaluationConfig,
  { backend: passed, onPull, onWarning }: Given,
  signal: AbortSignal,
): Promise<StartedModel> {
  const isObject = typeof passed === "object" && passed !== null;
  if (located.kind === "target") {
    if (isObject) {
      throw new ConfigError({
        message: `A backend cannot be combined with ${located.label}, which needs none.`,
        hint: "Remove backend, or give model the name of a model or a checkpoint.",
        fields: { option: "backend" },
      });
    }
    const { target } = located;
    return { target, weightVersion: 0, [Symbol.asyncDispose]: async () => {} };
  }
  const backend = isObject
    ? passed
    : await createBackend(config, folder, {
        ...(onPull === undefined ? {} : { onPull }),
        ...(onWarning === undefined ? {} : { onWarning }),
      });
  const close = async (): Promise<void> => {
    if (!isObject) await backend[Symbol.asyncDispose]();
  };
  try {
    const started = await startBackend(backend, config, located, signal);
    return { ...started, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
