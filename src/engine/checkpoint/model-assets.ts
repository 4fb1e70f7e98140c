/** The files that make a folder of weights a model: configuration, tokenizer, chat template. */
import { statSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** By file name: its text, or the file to copy. */
export type ModelAssets = ReadonlyMap<
  string,
  { readonly text: string } | { readonly copyOf: string }
>;

const names = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "special_tokens_map.json",
  "added_tokens.json",
  "vocab.json",
  "merges.txt",
  "tokenizer.model",
];

/** The asset files that a model folder has. */
export function findModelAssets(folder: string): ModelAssets {
  return new Map(
    names
      .map((name) => [name, { copyOf: join(folder, name) }] as const)
      .filter(([, { copyOf }]) => statSync(copyOf, { throwIfNoEntry: false })?.isFile() === true),
  );
}

/** Text of a JSON file as these files are usually written. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export async function writeModelAssets(files: ModelAssets, folder: string): Promise<void> {
  await Promise.all(
    Array.from(files, ([name, source]) => {
      const to = join(folder, name);
      return "text" in source ? writeFile(to, source.text) : copyFile(source.copyOf, to);
    }),
  );
}
