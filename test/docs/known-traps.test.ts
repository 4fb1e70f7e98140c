import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPage, root } from "./pages.ts";

const rows = readPage("test/known-traps.md")
  .split("\n")
  .filter((line) => /^\| [A-Z]\d/u.test(line))
  .map((line) => line.split(" | "));

/** What a row names: files, each with the titles or messages that it must contain. */
function named(cell: string): { file: string; titles: string[] }[] {
  return cell.split("; ").map((part) => ({
    file: /\[`([^`]+)`\]/u.exec(part)?.[1] ?? "",
    titles: [...part.matchAll(/"([^"]+)"/gu)].map((match) => match[1] as string),
  }));
}

describe("known traps", () => {
  it("are many, each once", () => {
    const traps = rows.map(([trap]) => trap);
    expect(traps.length).toBeGreaterThan(15);
    expect(new Set(traps).size).toBe(traps.length);
  });

  it.each(rows)("%s is held by the tests it names", (_trap, elsewhere, here, heldBy = "") => {
    expect(elsewhere).not.toBe("");
    expect(here).not.toBe("");
    for (const { file, titles } of named(heldBy)) {
      const source = readFileSync(join(root, file), "utf8");
      expect(titles.length).toBeGreaterThan(0);
      for (const title of titles) expect(source).toContain(title);
    }
  });
});
