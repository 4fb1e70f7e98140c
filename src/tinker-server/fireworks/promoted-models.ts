/** Checkpoints promoted to models: adapters in PEFT's format, in a folder each. */
import { randomUUID } from "node:crypto";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { checkpointFile, type Checkpoint } from "../checkpoints/checkpoint-store.ts";
import type { AdapterSpec } from "../model/adapter.ts";
import { RequestError } from "../request-error.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { writeFolderAtomic } from "../../util/files/atomic-write.ts";
import { checkLabel } from "./names.ts";
import type { FireworksParts } from "./parts.ts";

type Place = Pick<FireworksParts, "account" | "modelsFolder">;

interface PromotedModel {
  readonly spec: AdapterSpec;
  readonly folder: string;
}

/** @param name `accounts/<account>/models/<id>` @throws RequestError 400 */
function folderOf({ account, modelsFolder }: Place, name: string): string {
  const prefix = `accounts/${account}/models/`;
  if (name.startsWith(prefix)) return join(modelsFolder, checkLabel(name.slice(prefix.length)));
  throw new RequestError(
    400,
    `"${name.slice(0, 200)}" is no model of this server: ${prefix}<id>, as promoted.`,
  );
}

async function findModel(folder: string): Promise<Checkpoint | null> {
  const json = await readJsonFile(join(folder, checkpointFile)).catch(() => null);
  return json as Checkpoint | null;
}

/** @throws RequestError 400, 409 when there is such a model */
export async function promote(
  place: Place,
  checkpoint: Checkpoint,
  source: string,
  name: string,
): Promise<void> {
  const folder = folderOf(place, name);
  if (checkpoint.kind !== "sampler_weights")
    throw new RequestError(400, "Only what save_weights_for_sampler saved can be promoted.");
  if ((await findModel(folder)) !== null)
    throw new RequestError(409, `Model ${name} already exists.`);
  const fill = (temporary: string): Promise<void> => cp(source, temporary, { recursive: true });
  await writeFolderAtomic(folder, fill, join(place.modelsFolder, `.${randomUUID()}`));
}

/** @throws RequestError 400, 404 */
export async function readPromoted(place: Place, name: string): Promise<PromotedModel> {
  const folder = folderOf(place, name);
  const checkpoint = await findModel(folder);
  if (checkpoint === null) throw new RequestError(404, `There is no model ${name}.`);
  return { spec: checkpoint.spec, folder };
}
