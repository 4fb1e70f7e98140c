/** Finds the weights in a run's folder, or in one of its checkpoints. Does not read them. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import { namedCheckpoint } from "../../util/files/checkpoint-name.ts";

const isCheckpoint = (path: string): boolean =>
  existsSync(join(path, "state.json")) && existsSync(join(path, "weights"));

/**
 * Weights of the run's newest checkpoint, or of the one that is named; null if the folder is neither a run's
 * nor a checkpoint.
 * @throws ModelError when the run has no checkpoint yet.
 */
export async function findRunWeights(given: string): Promise<string | null> {
  const path = namedCheckpoint(given, (why) => new ModelError(why));
  if (isCheckpoint(path)) return join(path, "weights");
  if (!existsSync(join(path, "config.resolved.yaml"))) return null;
  const root = join(path, "checkpoints");
  const steps = (await readdir(root).catch(() => []))
    .filter((name) => /^\d{6,}$/u.test(name) && isCheckpoint(join(root, name)))
    .sort((a, b) => Number(b) - Number(a));
  const [newest] = steps;
  if (newest !== undefined) return join(root, newest, "weights");
  throw new ModelError({
    message: `The run ${path} has no checkpoint yet, so it has no model.`,
    hint: "Let it finish a step that is saved; see trainer.save_freq.",
    fields: { path },
  });
}
