/** Which pages of the repository are on the site, and under which names. */
import { existsSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { llmsFile } from "../scripts/llms-text.ts";
import { root } from "../test/docs/pages.ts";

/** Pages outside of docs/. */
const others: Readonly<Record<string, string>> = {
  "README.md": "index",
  "docs/index.md": "contents",
  "CHANGELOG.md": "changelog",
  "CONTRIBUTING.md": "contributing",
  "AGENTS.md": "code-map",
  "SECURITY.md": "reporting",
  "CODE_OF_CONDUCT.md": "code-of-conduct",
  "RELEASING.md": "releasing",
  "test/known-traps.md": "known-traps",
};

function nameOf(path: string): string {
  return others[path] ?? path.replace(/^docs\//u, "").replace(/(?:README)?\.md$/u, "");
}

const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md"))
  .map((path) => posix.join("docs", path.replaceAll("\\", "/")));

/** Path in the repository to name on the site, without `.md`; `api/` is the index of a folder. */
export const sitePages: ReadonlyMap<string, string> = new Map(
  [...new Set([...Object.keys(others), ...docs])].map((path) => [path, nameOf(path)]),
);

/** Where a link of a page leads on the site. */
export type Target =
  | { readonly type: "page" | "file"; readonly href: string }
  /** A file that only the repository has. */
  | { readonly type: "repository"; readonly path: string }
  | { readonly type: "elsewhere" };

export function targetOf(page: string, link: string): Target {
  if (/^(?:[a-z]+:|#)/u.test(link)) return { type: "elsewhere" };
  const [file = "", anchor] = link.split("#");
  const path = posix.join(posix.dirname(page), file).replace(/\/$/u, "");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (path === llmsFile) return { type: "file", href: `/${path}` };
  const name = sitePages.get(path) ?? sitePages.get(`${path}/README.md`);
  if (name !== undefined) return { type: "page", href: `/${name}${hash}` };
  if (!existsSync(join(root, path))) throw new Error(`${page} links to ${link}: no such file.`);
  if (path.startsWith("docs/")) return { type: "file", href: path.slice("docs".length) };
  return { type: "repository", path };
}
