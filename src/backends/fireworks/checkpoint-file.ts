/**
 * The record in a run folder of a checkpoint on Fireworks. It can be loaded as long as the session is
 * there that made it: serverless training does not continue the runs of other sessions.
 */
import { join } from "node:path";
import { z } from "zod";
import { CheckpointError } from "../../core/errors.ts";
import { readRecord, writeRecord } from "../checkpoint-record.ts";

const fileName = "fireworks.json";

const schema = z.object({
  format: z.literal(1),
  /** `<account>/<run>/<name>` */
  state_path: z.string(),
  /** The snapshot of the same weights that can be promoted; null where none was made. */
  snapshot_path: z.string().nullable(),
  session: z.string(),
  base_model: z.string(),
});

export interface FireworksCheckpointFile {
  readonly statePath: string;
  readonly snapshotPath: string | null;
  readonly session: string;
  readonly baseModel: string;
}

export async function writeCheckpointFile(
  folder: string,
  { statePath, snapshotPath, session, baseModel }: FireworksCheckpointFile,
): Promise<void> {
  const json: z.output<typeof schema> = {
    format: 1,
    state_path: statePath,
    snapshot_path: snapshotPath,
    session,
    base_model: baseModel,
  };
  await writeRecord(folder, fileName, json);
}

/** @returns the path of the state. @throws CheckpointError when there is none, or it is of another session. */
export async function readCheckpointFile(folder: string, session: string): Promise<string> {
  const file = join(folder, fileName);
  const record = await readRecord(folder, { name: fileName, backend: "fireworks", schema });
  const { session: owner, state_path: statePath } = record;
  if (owner === session) return statePath;
  throw new CheckpointError({
    message: `The checkpoint ${statePath} belongs to the training session ${owner}, and Fireworks loads it in no other.`,
    hint: "Start a new run.",
    fields: { file, owner, session },
  });
}
