/** Tokens that end a sequence when a request names none: those of the model's own files. */
import { join } from "node:path";
import type { Renderer } from "../core/policy.ts";
import { readJsonFile } from "../util/files/json-file.ts";

export async function findEndTokens(
  modelPath: string,
  renderer: Renderer,
): Promise<readonly number[]> {
  for (const file of ["generation_config.json", "config.json"]) {
    const json = (await readJsonFile(join(modelPath, file)).catch(() => null)) as {
      eos_token_id?: number | readonly number[] | null;
    } | null;
    const ids = json?.eos_token_id;
    if (typeof ids === "number") return [ids];
    if (Array.isArray(ids)) return ids as readonly number[];
  }
  return renderer.stop.tokenIds;
}
