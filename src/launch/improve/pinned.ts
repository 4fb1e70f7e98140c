/** A model as a round records it: with the exact checkpoint, where it has any. */
import type { RoundModel } from "../../runs/rounds/round.ts";
import { locateModel } from "../evaluate/locate-model.ts";
import { checkpointVersion } from "../serve/version.ts";

export async function pinned(model: string): Promise<RoundModel> {
  const located = await locateModel(model);
  if (located.kind !== "checkpoint") return { model, version: null };
  const { checkpoint } = located;
  return { model: checkpoint.path, version: checkpointVersion(checkpoint) };
}
