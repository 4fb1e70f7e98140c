/** Opens checkpoints of a run that goes on, which deletes old ones: one that is gone is not damaged. */
import { existsSync } from "node:fs";
import { CheckpointError } from "../core/errors.ts";
import type { Checkpoint } from "../trainer/run-folder/checkpoint.ts";

/** A run that deletes this many, one after the other, while each is read, saves more often than can be read. */
const mostDeleted = 50;

/** A path that names one step stays with it. */
export const namesStep = (path: string): boolean =>
  /(?:^|[/\\])\d{6,}(?:[/\\]weights)?[/\\]*$/u.test(path);

function deletedError({ path }: Pick<Checkpoint, "path">, cause: unknown): CheckpointError {
  return new CheckpointError({
    message: `The checkpoint ${path} was deleted while it was being opened.`,
    hint: "Its run goes on and keeps only the newest: raise trainer.keep_checkpoints, or name RUN/best.",
    cause,
    fields: { path },
  });
}

/** Calls `find` again where what it was reading has been deleted. */
export async function findKept<T>(find: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await find();
    } catch (error) {
      const path = error instanceof CheckpointError ? error.fields["path"] : undefined;
      if (typeof path !== "string" || existsSync(path)) throw error;
      if (attempt === mostDeleted) throw deletedError({ path }, error);
    }
  }
}

/**
 * Uses a checkpoint; where the run has deleted it before that was done, the one that `next` finds.
 *
 * @param next absent where it must be this one
 * @throws CheckpointError when it is gone and there is no next one, or what `use` throws of one that is there.
 */
export async function useKept<T>(
  first: Checkpoint,
  use: (checkpoint: Checkpoint) => Promise<T>,
  next?: () => Promise<Checkpoint | null>,
): Promise<{ readonly checkpoint: Checkpoint; readonly value: T }> {
  let checkpoint = first;
  for (let attempt = 1; ; attempt++) {
    try {
      return { checkpoint, value: await use(checkpoint) };
    } catch (error) {
      if (existsSync(checkpoint.path)) throw error;
      const found = attempt < mostDeleted ? await next?.() : null;
      if (found === null || found === undefined) throw deletedError(checkpoint, error);
      checkpoint = found;
    }
  }
}
