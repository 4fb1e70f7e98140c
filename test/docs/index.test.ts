import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { pages, prose, readPage } from "./pages.ts";

const index = readPage("docs/index.md");

it("has one line for every page of docs/, and one for each folder of pages", () => {
  const linked = [...prose(index).matchAll(/^- \[[^\]]+\]\(([\w/-]+\.md)\): /gmu)].map((match) =>
    join("docs", match[1]!),
  );
  const isListed = (page: string): boolean =>
    dirname(page) === "docs" ? page !== "docs/index.md" : basename(page) === "README.md";
  const written = pages.filter((page) => page.startsWith("docs/") && isListed(page));
  expect(linked.toSorted()).toEqual(written.toSorted());
});
