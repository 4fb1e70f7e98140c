/** The program in what a model wrote. */
import { fencedBlocks } from "../fences.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  javascript: ["javascript", "js", "mjs"],
  commonjs: ["javascript", "js", "cjs"],
  python: ["python", "py", "python3"],
};

/** The last fenced block of the language, else the last fenced block, else the whole text. */
export function fencedCode(text: string, language: string): string {
  const blocks = fencedBlocks(text);
  const known = names[language] ?? [];
  const isKnown = (info: string): boolean => known.includes(info.split(/\s/u, 1)[0]!.toLowerCase());
  const block = blocks.findLast(({ info }) => isKnown(info)) ?? blocks.at(-1);
  return block?.text ?? text;
}
