/** The model that the last accepted round handed over: a file in the folder of rounds that names its checkpoint. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { holdCheckpoint } from "../checkpoint-lease.ts";
import type { RoundModel } from "./round.ts";

export interface HandedOver extends RoundModel {
  readonly round: number;
}

const fileName = "handed-over.json";
const format = "agent-trainer/handed-over/1";

/** null where nothing was handed over yet. @throws ConfigError for a file that is not of this format. */
export function readHandedOver(folder: string): HandedOver | null {
  const path = join(folder, fileName);
  if (!existsSync(path)) return null;
  const text = namingFile({ path }, () => readFileSync(path, "utf8"));
  try {
    const { format: found, ...rest } = JSON.parse(text) as HandedOver & { format?: unknown };
    if (found === format && typeof rest.model === "string") return rest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConfigError({
    message: `${path} cannot be used: it is not of the format "${format}".`,
    hint: "Restore it; its round has the model, too.",
    fields: { path },
  });
}

export function writeHandedOver(folder: string, handedOver: HandedOver): void {
  const path = join(folder, fileName);
  const text = `${JSON.stringify({ format, ...handedOver }, null, 2)}\n`;
  // Before the file names it: between the two it is not deleted.
  if (handedOver.version !== null) holdCheckpoint(handedOver.model, path);
  namingFile({ path }, () => writeFileAtomicSync(path, text));
}
