/** Opens checkpoints of a run that goes on, which deletes old ones: one that is gone is not damaged. */
import { existsSync } from "node:fs";
import { CheckpointError } from "../../core/errors.ts";
import type { Checkpoint } from "../../runs/checkpoint.ts";
import { reopen } from "../../util/files/reopen.ts";

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

/** The path of a checkpoint that cannot be read; null for another error. */
function pathOf(error: unknown): string | null {
  const path = error instanceof CheckpointError ? error.fields["path"] : null;
  return typeof path === "string" ? path : null;
}

/** Calls `find` again where what it was reading has been deleted. */
export function findKept<T>(find: () => Promise<T>): Promise<T> {
  return reopen(
    find,
    (error) => {
      const path = pathOf(error);
      return path !== null && !existsSync(path);
    },
    (error) => deletedError({ path: pathOf(error) ?? "" }, error),
  );
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
  const value = await reopen(
    () => use(checkpoint),
    async (error) => {
      if (existsSync(checkpoint.path)) return false;
      const found = (await next?.()) ?? null;
      if (found === null) throw deletedError(checkpoint, error);
      checkpoint = found;
      return true;
    },
    (error) => deletedError(checkpoint, error),
  );
  return { checkpoint, value };
}
