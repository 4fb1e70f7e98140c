import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeSpans, pages, prose, readPage, root } from "./pages.ts";

/** Anchors as GitHub makes them from headings. */
function anchors(page: string): string[] {
  return [...prose(page).matchAll(/^#+ (.*)$/gmu)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/gu, "-"),
  );
}

function leadsSomewhere(from: string, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const linked = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(root, linked))) return false;
  return anchor === undefined || anchors(readPage(linked)).includes(anchor);
}

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** Parts of this repository that pages name by path; `dist/` and run folders are made later. */
const ownPath = /^(?:src|test|docs|scripts|examples|models|\.ci)\/[\w./-]*$/u;

describe.each(pages)("%s", (path) => {
  const page = readPage(path);

  it("has links that lead somewhere", () => {
    const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/gu)].map((match) => match[1]!);
    const own = targets.filter((target) => !/^[a-z]+:/u.test(target));
    expect(own.filter((target) => !leadsSomewhere(path, target))).toEqual([]);
  });

  it("names files and scripts that exist", () => {
    const spans = codeSpans(page);
    const files = spans.filter((span) => ownPath.test(span));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const named = spans.flatMap((span) => /^npm run ([\w:-]+)/u.exec(span)?.[1] ?? []);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});
