/**
 * The record in a run folder of a checkpoint that is stored on a server: its path, and what it
 * belongs to.
 */
import { join } from "node:path";
import { z } from "zod";
import { CheckpointError } from "../../core/errors.ts";
import { readRecord, writeRecord } from "../checkpoint-record.ts";

const fileName = "tinker.json";

const schema = z.object({
  format: z.literal(1),
  state_path: z.string().startsWith("tinker://"),
  base_model: z.string(),
  lora_rank: z.int(),
  base_url: z.string(),
});

export interface RemoteCheckpoint {
  /** `tinker://...` */
  readonly statePath: string;
  readonly baseModel: string;
  readonly loraRank: number;
  readonly baseUrl: string;
}

export async function writeCheckpointFile(folder: string, found: RemoteCheckpoint): Promise<void> {
  const json: z.output<typeof schema> = {
    format: 1,
    state_path: found.statePath,
    base_model: found.baseModel,
    lora_rank: found.loraRank,
    base_url: found.baseUrl,
  };
  await writeRecord(folder, fileName, json);
}

/** @throws CheckpointError when there is none, or it belongs to another model. */
export async function readCheckpointFile(
  folder: string,
  expected: { readonly baseModel: string; readonly loraRank: number },
): Promise<RemoteCheckpoint> {
  const file = join(folder, fileName);
  const record = await readRecord(folder, { name: fileName, backend: "tinker", schema });
  const {
    state_path: statePath,
    base_model: baseModel,
    lora_rank: loraRank,
    base_url: baseUrl,
  } = record;
  if (baseModel !== expected.baseModel || loraRank !== expected.loraRank)
    throw new CheckpointError({
      message: `The checkpoint is of ${baseModel} at rank ${loraRank}, the run of ${expected.baseModel} at rank ${expected.loraRank}.`,
      hint: "Resume with the model and LoRA settings that the checkpoint was made with.",
      fields: { file, ...expected },
    });
  return { statePath, baseModel, loraRank, baseUrl };
}
