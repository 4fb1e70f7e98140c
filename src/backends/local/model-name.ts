/** What a model's name says before anything is loaded or downloaded. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ModelError } from "../../core/errors.ts";
import { isGgufPath } from "../../engine/checkpoint/gguf/gguf-file.ts";
import { parseModelId } from "../../models/hub/model-id.ts";
import { nearestName } from "../../util/nearest-name.ts";

const builtinPrefix = "builtin:";
const builtinModels = ["shop-tiny"] as const;

export const isBuiltinName = (name: string): boolean => name.startsWith(builtinPrefix);

/** @returns the name without `builtin:`. @throws ModelError when no such model is built in. */
export function builtinName(name: string): string {
  const short = name.slice(builtinPrefix.length);
  if (builtinModels.some((known) => known === short)) return short;
  throw new ModelError({
    message: `There is no built-in model "${short}".`,
    hint: `Built in: ${builtinModels.map((known) => builtinPrefix + known).join(", ")}.`,
    fields: { name },
  });
}

export function modelNotFound(name: string, path: string): ModelError {
  const nearest = nearestName(name, builtinModels);
  return new ModelError({
    message: isGgufPath(path)
      ? `"${name}" is not a file: ${path} does not exist.`
      : `"${name}" is not a model folder: ${join(path, "config.json")} does not exist.`,
    hint: `${nearest === undefined ? "" : `Did you mean ${builtinPrefix}${nearest}? `}Give a folder in Hugging Face layout, the folder of a run, a .gguf file, OWNER/NAME on a hub, or ${builtinPrefix}${builtinModels[0]}.`,
    fields: { name, path },
  });
}

/** Files by which a folder is known as a model, a run, or a checkpoint of one. */
const marks = ["config.json", "config.resolved.yaml", "state.json"];

/**
 * Which kind of name it is; downloads nothing, so a name on a hub may still have no model.
 *
 * @throws ModelError for a name that is none, and for a path without a model.
 */
export function kindOfModelName(name: string): "builtin" | "path" | "hub" {
  if (isBuiltinName(name)) {
    builtinName(name);
    return "builtin";
  }
  const path = resolve(name);
  const isFile = isGgufPath(path) && existsSync(path);
  if (isFile || marks.some((mark) => existsSync(join(path, mark)))) return "path";
  if (!existsSync(path) && parseModelId(name) !== null) return "hub";
  throw modelNotFound(name, path);
}
