/** A name for a model that agents and prompts may see: no folder of this machine is in it. */
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/** `checkpoints/000010/weights` of a run: the run's name is more informative. */
const insideRun = /[/\\]checkpoints(?:[/\\]\d{6,}(?:[/\\]weights)?)?$/u;

const isPath = (name: string): boolean =>
  isAbsolute(name) ||
  /^\.{1,2}(?:[/\\]|$)|^~[/\\]|^[A-Za-z]:[/\\]/u.test(name) ||
  existsSync(resolve(name));

/**
 * `Qwen/Qwen3-0.6B` and `builtin:shop-tiny` stay as they are; a path becomes its last part, that of a
 * checkpoint the name of its run.
 */
export function shortModelName(name: string): string {
  if (!isPath(name)) return name;
  const parts = resolve(name).replace(insideRun, "").split(/[/\\]/u);
  const short = (parts.at(-1) ?? "").replace(/\.gguf$/iu, "");
  return short === "" ? "policy" : short;
}
