/** Reads the Markdown pages of this repository. Knows no particular page. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** Every page, relative to the root; those of `docs/api` are generated (`npm run docs:api`). */
export const pages: readonly string[] = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("api"))
    .map((name) => join("docs", name)),
  "test/known-traps.md",
];

export function readPage(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

export interface CodeBlock {
  /** What follows the opening fence: the language, then words that mark the block. */
  readonly info: readonly string[];
  readonly code: string;
  /** From 1. */
  readonly line: number;
}

const fence = /^```(.*)$/u;

/** Fenced blocks, in order. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { info: string[]; lines: string[]; line: number } | undefined;
  for (const [index, text] of page.split("\n").entries()) {
    const info = fence.exec(text)?.[1];
    if (info === undefined) open?.lines.push(text);
    else if (open === undefined)
      open = { info: info.trim().split(/\s+/u), lines: [], line: index + 1 };
    else {
      blocks.push({ info: open.info, code: `${open.lines.join("\n")}\n`, line: open.line });
      open = undefined;
    }
  }
  return blocks;
}

/** The page without its fenced blocks. */
export function prose(page: string): string {
  let inBlock = false;
  return page
    .split("\n")
    .filter((line) => {
      const isFence = fence.test(line);
      if (isFence) inBlock = !inBlock;
      return !inBlock && !isFence;
    })
    .join("\n");
}

/** `text` of every `` `text` `` outside of fenced blocks. */
export function codeSpans(page: string): string[] {
  return [...prose(page).matchAll(/`([^`\n]+)`/gu)].map((match) => match[1]!);
}

function cells(line: string): string[] {
  return line
    .replace(/^\||\|$/gu, "")
    .split("|")
    .map((cell) => cell.trim());
}

/** Body rows of every table whose first column has this heading. */
export function tableRows(page: string, firstHeading: string): string[][] {
  const rows: string[][] = [];
  let isInside = false;
  let previous = "";
  for (const line of page.split("\n")) {
    if (!line.startsWith("|")) isInside = false;
    else if (/^\|[\s:|-]+\|$/u.test(line)) isInside = cells(previous)[0] === firstHeading;
    else if (isInside) rows.push(cells(line));
    previous = line;
  }
  return rows;
}

/** `` `text` `` to `text`. */
export function unquoted(cell: string): string {
  return cell.replace(/^`([^`]*)`$/u, "$1");
}
