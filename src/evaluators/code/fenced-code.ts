/** The program in what a model wrote. */

const names: Readonly<Record<string, readonly string[]>> = {
  javascript: ["javascript", "js", "mjs"],
  commonjs: ["javascript", "js", "cjs"],
  python: ["python", "py", "python3"],
};

/**
 * The last fenced block of the language, else the last fenced block, else the whole text. A block that is
 * not closed reaches to the end.
 */
export function fencedCode(text: string, language: string): string {
  const blocks: { readonly info: string; readonly lines: string[] }[] = [];
  let open: (typeof blocks)[number] | null = null;
  for (const line of text.split("\n")) {
    const isFence = line.trimStart().startsWith("```");
    if (open !== null && isFence) {
      open = null;
    } else if (isFence) {
      open = { info: line.trim().slice(3).trim().toLowerCase(), lines: [] };
      blocks.push(open);
    } else {
      open?.lines.push(line);
    }
  }
  const known = names[language] ?? [];
  const block = blocks.findLast(({ info }) => known.includes(info)) ?? blocks.at(-1);
  return block === undefined ? text : block.lines.join("\n");
}
