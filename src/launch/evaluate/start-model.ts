/** Starts what is evaluated: a backend with its model or a checkpoint's weights, or nothing for an endpoint. */
import { modelSpecOf } from "../../config/model-spec.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { createBackend } from "../create-backend.ts";
import { type Checkpoint, servedState } from "../../runs/checkpoint.ts";
import type { EvaluationRunOptions } from "./evaluation-options.ts";
import type { EvaluationConfig } from "./evaluation-config.ts";
import type { LocatedModel } from "./locate-model.ts";
import { useKept } from "./open-checkpoint.ts";

export interface StartedModel extends AsyncDisposable {
  readonly target: InferenceTarget;
  readonly weightVersion: number;
  /** What its hardware costs while it is held. */
  readonly usdPerHour: number;
  /** What is served; null for what is not a checkpoint. */
  readonly checkpoint: Checkpoint | null;
  /** Serves another checkpoint of the same run; resolves with its version. Absent for what has none. */
  readonly load?: (checkpoint: Checkpoint) => Promise<number>;
}

interface Given extends Pick<EvaluationRunOptions<never>, "backend" | "onPull" | "onWarning"> {
  /** Finds another checkpoint where the run has deleted the one that was found. @default none: it must be that one */
  readonly relocate?: () => Promise<LocatedModel>;
}

/** The same model as a run starts with, and then what the checkpoint holds. */
async function startBackend(
  backend: TrainingBackend,
  { model, trainer }: TrainConfig,
  located: LocatedModel,
  { relocate, signal }: Pick<Given, "relocate"> & { readonly signal: AbortSignal },
): Promise<Omit<StartedModel, keyof AsyncDisposable>> {
  const target = await backend.start({
    seed: trainer.seed,
    model: { ...modelSpecOf(model), isFrozen: located.kind !== "checkpoint" },
    signal,
  });
  const usdPerHour = backend.usdPerHour ?? 0;
  if (located.kind !== "checkpoint")
    return { target, weightVersion: 0, usdPerHour, checkpoint: null };
  const load = async ({ weights, state }: Checkpoint): Promise<number> => {
    const { weightVersion } = servedState(state);
    await backend.loadState(weights, weightVersion);
    return weightVersion;
  };
  const next = async (): Promise<Checkpoint | null> => {
    const found = await relocate?.();
    return found?.kind === "checkpoint" ? found.checkpoint : null;
  };
  const { checkpoint, value } = await useKept(located.checkpoint, load, next);
  return { target, weightVersion: value, usdPerHour, checkpoint, load };
}

/** @throws whatever starting the backend throws; it is disposed of then. */
export async function startModel(
  located: LocatedModel,
  { config, folder }: EvaluationConfig,
  { backend: passed, onPull, onWarning, relocate }: Given,
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
    const close = async (): Promise<void> => {};
    return {
      ...{ target, weightVersion: 0, usdPerHour: 0, checkpoint: null },
      [Symbol.asyncDispose]: close,
    };
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
    const started = await startBackend(backend, config, located, {
      signal,
      ...(relocate === undefined ? {} : { relocate }),
    });
    return { ...started, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
