/** Where a model lies: built into the package, a folder, or a GGUF file. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ModelError } from "../../core/errors.ts";
import { isGgufPath } from "../../engine/checkpoint/gguf-file.ts";

const builtinPrefix = "builtin:";
const builtinRoot = new URL("../../../models/", import.meta.url);
export const builtinModels = ["shop-tiny"] as const;

export interface FoundModel {
  /** A model folder or a `.gguf` file. */
  readonly path: string;
  /** What others find the model by: a hub id, or the path. */
  readonly name: string;
}

/** @throws ModelError when there is no such model. */
export function findModel(name: string): FoundModel {
  if (name.startsWith(builtinPrefix)) return { path: builtinFolder(name), name };
  const path = resolve(name);
  if (isGgufPath(path) ? existsSync(path) : existsSync(join(path, "config.json")))
    return { path, name: path };
  throw new ModelError({
    message: isGgufPath(path)
      ? `"${name}" is no file: ${path} does not exist.`
      : `"${name}" is not a model folder: ${join(path, "config.json")} does not exist.`,
    hint: `Give a folder in Hugging Face layout, a .gguf file, or ${builtinPrefix}${builtinModels[0]}.`,
    fields: { name, path },
  });
}

function builtinFolder(name: string): string {
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
