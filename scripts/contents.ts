/** The list of pages in docs/index.md, read for what repeats it: llms.txt and the sidebar of the site. */
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { prose, root } from "../test/docs/pages.ts";

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly title: string;
  /** Of the page, relative to the root of the repository. */
  readonly path: string;
  /** What the page is about; empty where the list does not say it. */
  readonly about: string;
  /** Whether the package has the page, or only the repository. */
  readonly isPackaged: boolean;
}

/** `- [Title](page.md): about`, `1. [Title](page.md), about`. */
const linked = /^(?:-|\d+\.) \[(?<title>[^\]]+)\]\((?<link>[^)]+)\)[:,]? ?(?<about>.*)$/u;
/** ``- Title, `path` in the repository: about``: a page that the package does not hold. */
const named = /^- (?<title>[^,[]+), `(?<path>[^`]+)` in the repository: (?<about>.*)$/u;

function entryOf(line: string): Entry | null {
  const link = linked.exec(line)?.groups;
  if (link !== undefined)
    return {
      title: link["title"]!,
      path: posix.join("docs", link["link"]!),
      about: link["about"]!,
      isPackaged: true,
    };
  const { title, path, about } = named.exec(line)?.groups ?? {};
  if (title === undefined || path === undefined || about === undefined) return null;
  const page = path.endsWith("/") ? `${path}README.md` : path;
  if (!existsSync(join(root, page))) throw new Error(`docs/index.md names ${path}: no such page.`);
  return { title, path: page, about, isPackaged: false };
}

export function readContents(): readonly Section[] {
  const page = prose(readFileSync(join(root, "docs/index.md"), "utf8"));
  return page
    .split(/^## /mu)
    .slice(1)
    .map((part) => {
      const [title = "", ...lines] = part.split("\n");
      return { title, entries: lines.map(entryOf).filter((entry) => entry !== null) };
    });
}
