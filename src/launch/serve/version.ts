/** The exact weights that respond, as a name: `shop@10-1f3a9c2e` for step 10 of a run. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Checkpoint } from "../../runs/checkpoint.ts";
import { shortModelName } from "../../util/model-name.ts";
import type { LocatedModel } from "../evaluate/locate-model.ts";

/** Which version responded; set on every response of a model. */
export const versionHeader = "x-agent-trainer-version";

/** With the beginning of the hash of its state, which has those of all files: equal for equal weights alone. */
export async function checkpointVersion({ path, state }: Checkpoint): Promise<string> {
  const hash = await readFile(join(path, "state.sha256"), "utf8");
  return `${shortModelName(path)}@${state.step}-${hash.trim().slice(0, 8)}`;
}

/** Of what is no checkpoint, the name that it was given by. */
export const modelVersion = (
  located: LocatedModel,
  checkpoint: Checkpoint | null,
): Promise<string> =>
  checkpoint !== null
    ? checkpointVersion(checkpoint)
    : Promise.resolve(located.kind === "name" ? located.name : labelOf(located));

const labelOf = (located: LocatedModel): string => ("label" in located ? located.label : "model");
