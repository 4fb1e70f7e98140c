/** The names `best` and `latest` of a run's checkpoints, `runs/shop/best`, as paths. Does not read weights. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Why a name stands for no checkpoint. */
export interface NoCheckpoint {
  readonly message: string;
  readonly hint: string;
  readonly fields: { readonly run: string };
}

/** Step of the best validation, as the newest readable checkpoint has it. */
function bestStep(checkpoints: string, newestFirst: readonly string[]): number | null {
  for (const name of newestFirst) {
    try {
      const state = JSON.parse(readFileSync(join(checkpoints, name, "state.json"), "utf8")) as {
        readonly best?: { readonly step: number } | null;
      };
      return state.best?.step ?? null;
    } catch {
      // Damaged, or being deleted: the one before it knows.
    }
  }
  return null;
}

function bestCheckpoint(run: string, fail: (why: NoCheckpoint) => Error): string {
  const checkpoints = join(run, "checkpoints");
  const names = (existsSync(checkpoints) ? readdirSync(checkpoints) : [])
    .filter((name) => /^\d{6,}$/u.test(name))
    .sort((a, b) => Number(b) - Number(a));
  const step = bestStep(checkpoints, names);
  if (step === null) {
    throw fail({
      message: `The run ${run} has no best checkpoint, since it has saved no validation.`,
      hint: "Give it validation data (dataset.val), or name its newest checkpoint: latest.",
      fields: { run },
    });
  }
  if (step === 0) {
    throw fail({
      message: `The best validation of the run ${run} is the one before its first step, so no checkpoint has the best weights.`,
      hint: "Name the model that the run started with, or its newest checkpoint: latest.",
      fields: { run },
    });
  }
  const found = names.find((name) => Number(name) === step);
  if (found !== undefined) return join(checkpoints, found);
  throw fail({
    message: `The best validation of the run ${run} is that of step ${step}, whose checkpoint was not kept.`,
    hint: "trainer.keep_best=true keeps it; latest names the newest checkpoint.",
    fields: { run },
  });
}

/**
 * `RUN/best`, or `RUN/checkpoints/best`, as the checkpoint of the best validation, and `latest` as the run
 * itself, which stands for its newest checkpoint. Any other path stays as it is, a folder of such a name too.
 * @param fail makes the error for a run without such a checkpoint, which is thrown
 */
export function namedCheckpoint(path: string, fail: (why: NoCheckpoint) => Error): string {
  const name = basename(path);
  if ((name !== "best" && name !== "latest") || existsSync(path)) return path;
  const parent = dirname(path);
  const run = basename(parent) === "checkpoints" ? dirname(parent) : parent;
  if (!existsSync(join(run, "config.resolved.yaml"))) return path;
  return name === "latest" ? run : bestCheckpoint(run, fail);
}
