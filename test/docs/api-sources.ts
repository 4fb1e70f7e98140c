/**
 * What the API reference is made of: the types, signatures and comments of the files that declare a
 * public name, as one hash per file. The reference is as old as the hashes that were written with it.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./pages.ts";
import { publicNames } from "./public-api.ts";

/** Relative to the repository; `npm run docs:api` writes it. */
export const apiSourcesFile = "docs/api/sources.json";

const statement =
  /^(?=\/\*\*|(?:export )?(?:declare |abstract |async )*(?:interface|type|class|function|const|let) )/mu;

/** The comment and the declaration, without what runs. */
function shown(comment: string, code: string): string {
  if (/^(?:export )?(?:interface|type) /u.test(code)) return comment + code;
  if (!code.startsWith("export ")) return "";
  const lines = code.split("\n");
  if (/^export (?:abstract )?class /u.test(code)) {
    const members = lines.filter((line) => /^\s*(?:\/\*\*|\*)|^ {0,2}[^\s#]/u.test(line));
    return comment + members.join("\n");
  }
  const end = lines.findIndex((line) => /[{;]$/u.test(line));
  return comment + lines.slice(0, end + 1).join("\n");
}

function declarations(text: string): string {
  const parts: string[] = [];
  let comment = "";
  for (const part of text.replaceAll("\r\n", "\n").split(statement)) {
    const isComment = part.startsWith("/**");
    if (!isComment) parts.push(shown(comment, part.trimEnd()));
    comment = isComment ? part : "";
  }
  return parts.join("\n");
}

/** A hash for each file that declares a public name. */
export function apiSources(): Readonly<Record<string, string>> {
  const files = [...new Set(publicNames().map(({ file }) => file))].toSorted();
  return Object.fromEntries(
    files.map((file) => {
      const hash = createHash("sha256");
      hash.update(declarations(readFileSync(join(root, file), "utf8")));
      return [file.replaceAll("\\", "/"), hash.digest("hex").slice(0, 16)];
    }),
  );
}
