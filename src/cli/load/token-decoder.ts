/** Text of a model's tokens for displays; only models on this machine are used. */
import { existsSync } from "node:fs";
import { findModel } from "../../backends/local/find-model.ts";
import { loadModelRenderer } from "../../backends/local/load-model.ts";
import { isEvaluation } from "../../runs/evaluations/evaluation-folder.ts";
import { readStoredConfig, textAt } from "../../runs/stored-config.ts";
import type { DecodeTokens } from "../../view/episode/token-view.ts";

/** Null where the model's tokenizer is not at hand: nothing is downloaded for a display. */
export async function findTokenDecoder(model: string): Promise<DecodeTokens | null> {
  if (!model.startsWith("builtin:") && !existsSync(model)) return null;
  const { path } = await findModel(model);
  const renderer = await loadModelRenderer(path);
  return renderer.inspect?.bind(renderer) ?? renderer.decode.bind(renderer);
}

/** Of the model of a run; null too where the run does not say which it was. */
export async function findRunDecoder(folder: string): Promise<DecodeTokens | null> {
  if (isEvaluation(folder)) return null;
  try {
    const model = textAt(readStoredConfig(folder), "model.name");
    return model === "" ? null : await findTokenDecoder(model);
  } catch {
    return null;
  }
}
