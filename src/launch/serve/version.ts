/** The exact weights that respond, as a name: `shop@10-1f3a9c2e` for step 10 of a run. */
import type { Checkpoint } from "../../runs/checkpoint.ts";
import { shortModelName } from "../../util/model-name.ts";
import type { LocatedModel } from "../evaluate/locate-model.ts";

/** Which version responded; set on every response of a model. */
export const versionHeader = "x-agent-trainer-version";

const hashChars = 8;

/** With the beginning of its hash: another checkpoint of the same step has another name. */
export const checkpointVersion = ({ path, state, sha256 }: Checkpoint): string =>
  `${shortModelName(path)}@${state.step}-${sha256.slice(0, hashChars)}`;

/**
 * Of what is not a checkpoint, the name that it was given by.
 * @param loaded what was opened in place of the checkpoint that was found, which its run may have deleted
 */
export function modelVersion(located: LocatedModel, loaded: Checkpoint | null = null): string {
  if (loaded !== null) return checkpointVersion(loaded);
  if (located.kind === "checkpoint") return checkpointVersion(located.checkpoint);
  if (located.kind === "config") return "model";
  return located.kind === "name" ? located.name : located.label;
}
