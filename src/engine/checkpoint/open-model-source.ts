/** A model on disk, by what its path is. */
import { openFolderSource } from "./folder-source.ts";
import { isGgufPath } from "./gguf/gguf-file.ts";
import { openGgufSource } from "./gguf/gguf-source.ts";
import type { ModelSource } from "./model-source.ts";

/** @param path a folder in Hugging Face layout, or a `.gguf` file. @throws ModelError */
export function openModelSource(path: string): Promise<ModelSource> {
  return isGgufPath(path) ? openGgufSource(path) : openFolderSource(path);
}
