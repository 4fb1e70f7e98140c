/** The record in a run folder of a checkpoint that a service stores: one small JSON file, checked when read. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { CheckpointError } from "../core/errors.ts";

export async function writeRecord(folder: string, name: string, record: object): Promise<void> {
  await writeFile(join(folder, name), `${JSON.stringify(record, null, 2)}\n`);
}

/** @throws CheckpointError when there is none, or it does not match the schema. */
export async function readRecord<T>(
  folder: string,
  { name, backend, schema }: { name: string; backend: string; schema: z.ZodType<T> },
): Promise<T> {
  const file = join(folder, name);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CheckpointError({
      message: `${file} cannot be read, so the checkpoint is not one of the ${backend} backend.`,
      hint: "Resume with the backend that the run was made with.",
      cause,
      fields: { file },
    });
  });
  const result = schema.safeParse(parse(text));
  if (!result.success)
    throw new CheckpointError({ message: `${file} is damaged.`, fields: { file } });
  return result.data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
