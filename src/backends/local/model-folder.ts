/** Where a model lies: a folder, or a model that ships with the package. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ModelError } from "../../core/errors.ts";

const builtinPrefix = "builtin:";
const builtinRoot = new URL("../../../models/", import.meta.url);
export const builtinModels = ["shop-tiny"] as const;

/** @throws ModelError when there is no such model. */
export function modelFolder(name: string): string {
  if (name.startsWith(builtinPrefix)) {
    const short = name.slice(builtinPrefix.length);
    if (!builtinModels.some((known) => known === short)) {
      throw new ModelError({
        message: `There is no built-in model "${short}".`,
        hint: `Built in: ${builtinModels.map((known) => builtinPrefix + known).join(", ")}.`,
        fields: { name },
      });
    }
    return fileURLToPath(new URL(`${short}/`, builtinRoot));
  }
  const folder = resolve(name);
  if (!existsSync(join(folder, "config.json"))) {
    throw new ModelError({
      message: `"${name}" is not a model folder: ${join(folder, "config.json")} does not exist.`,
      hint: `Give a folder in Hugging Face layout, or ${builtinPrefix}${builtinModels[0]}.`,
      fields: { name, folder },
    });
  }
  return folder;
}
