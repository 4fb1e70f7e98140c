/** Text of a model's tokens for displays; only models on this machine are used. */
import { existsSync } from "node:fs";
import { findModel } from "../../backends/local/find-model.ts";
import { loadModelRenderer } from "../../backends/local/load-model.ts";

/** Null where the model's tokenizer is not at hand: nothing is downloaded for a display. */
export async function findTokenDecoder(
  model: string,
): Promise<((ids: Int32Array) => string) | null> {
  if (!model.startsWith("builtin:") && !existsSync(model)) return null;
  const { path } = await findModel(model);
  const renderer = await loadModelRenderer(path);
  return renderer.inspect?.bind(renderer) ?? renderer.decode.bind(renderer);
}
