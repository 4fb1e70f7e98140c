/**
 * A checkpoint that is a LoRA adapter as a model to start from: the base with the adapter merged, written
 * once next to the checkpoint's weights.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { exportFolder } from "../../engine/checkpoint/export-folder.ts";
import { mergeAdapter, readLoraAdapter } from "../../engine/checkpoint/lora-adapter.ts";
import { openModelSource } from "../../engine/checkpoint/open-model-source.ts";
import { modelAssets } from "./load-model.ts";

/**
 * @param findBase locates the base that the adapter names.
 * @returns the folder of the merged model; null where the adapter does not name its base.
 * @throws ModelError when the two do not fit.
 */
export async function mergedCheckpoint(
  weights: string,
  findBase: (name: string) => Promise<string>,
): Promise<string | null> {
  const merged = join(dirname(weights), "merged");
  if (existsSync(join(merged, "config.json"))) return merged;
  const adapter = await readLoraAdapter(weights);
  if (adapter.baseModel === null) return null;
  const relative = resolve(weights, adapter.baseModel);
  const base = await findBase(existsSync(relative) ? relative : adapter.baseModel);
  const source = mergeAdapter(await openModelSource(base), adapter);
  await exportFolder(source, merged, { format: "f32", assets: await modelAssets(base) });
  return merged;
}
