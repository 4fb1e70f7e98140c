/** Finds the weights in a run's folder, or in one of its checkpoints. Does not read them. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import { namedCheckpoint } from "../../util/files/checkpoint-name.ts";
import { reopen } from "../../util/files/reopen.ts";

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
  let listed: readonly string[] = [];
  return reopen(
    async () => {
      const names = await readdir(root).catch(() => []);
      listed = names
        .filter((name) => /^\d{6,}$/u.test(name))
        .sort((a, b) => Number(b) - Number(a))
        .map((name) => join(root, name));
      const newest = listed.find(isCheckpoint);
      if (newest !== undefined) return join(newest, "weights");
      throw new ModelError({
        message: `The run ${path} has no checkpoint yet, so it has no model.`,
        hint: "Let it finish a step that is saved; see trainer.save_freq.",
        fields: { path },
      });
    },
    // Deleted since it was listed, after a newer one was saved.
    () => listed.some((folder) => !existsSync(folder)),
  );
}
