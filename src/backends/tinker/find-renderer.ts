/** The model's chat template and tokenizer: they are needed here, since sampling takes token ids. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import { loadRenderer } from "../../renderers/load.ts";

/** @param places folders, the likeliest first. @throws ModelError when none has a tokenizer. */
export async function findRenderer(places: readonly (string | null)[]): Promise<Renderer> {
  const folder = places.find(
    (place) => place !== null && existsSync(join(place, "tokenizer.json")),
  );
  if (folder) return loadRenderer(folder);
  const looked = places.filter((place) => place !== null).join(", ");
  throw new ModelError({
    message: `No tokenizer.json was found in ${looked}.`,
    hint: "Set tinker.tokenizer to a folder with the model's tokenizer.json and tokenizer_config.json.",
    fields: { places },
  });
}
