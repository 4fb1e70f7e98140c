/** The model's chat template and tokenizer: they are needed here, since sampling takes token ids. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ModelError } from "../core/errors.ts";
import type { Renderer } from "../core/policy.ts";
import { parseModelId } from "../models/hub/model-id.ts";
import { resolveTokenizer, type PullOptions } from "../models/hub/pull-model.ts";
import { loadRenderer } from "../models/renderers/load.ts";
import { findRoleEnds, readEndIds, withRoleEnds } from "../models/turn-ends.ts";

/** Of a folder with a tokenizer, with or without weights. @throws ModelError */
export async function loadFolderRenderer(folder: string): Promise<Renderer> {
  const renderer = await loadRenderer(folder);
  return withRoleEnds(renderer, findRoleEnds(renderer, await readEndIds(folder)));
}

/**
 * @param places folders or `OWNER/NAME` on a hub, the most likely first; folders are tried before the
 * hub.
 * @param option names the tokenizer, for the message.
 * @throws ModelError when none has a tokenizer; HubError when a download fails.
 */
export async function findRenderer(
  places: readonly (string | null)[],
  option: string,
  pull: PullOptions = {},
): Promise<Renderer> {
  const folder = places.find(
    (place) => place !== null && existsSync(join(place, "tokenizer.json")),
  );
  if (folder) return loadFolderRenderer(folder);
  for (const place of places) {
    const id = place === null ? null : parseModelId(place);
    if (id !== null) return loadFolderRenderer(await resolveTokenizer(id, pull));
  }
  const looked = places.filter((place) => place !== null).join(", ");
  throw new ModelError({
    message: `No tokenizer.json was found in ${looked}.`,
    hint: `Set ${option} to a folder with the model's tokenizer.json and tokenizer_config.json, or to its OWNER/NAME on a hub.`,
    fields: { places },
  });
}
