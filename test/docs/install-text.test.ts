import { expect, it } from "vitest";
import { installPages, withInstallText } from "../../scripts/install-text.ts";
import { readPage } from "./pages.ts";

it.each(installPages)("%s says how to install as npm run schema writes it", (path) => {
  const page = readPage(path);
  expect(page).toContain("<!-- install -->");
  expect(withInstallText(path, page)).toBe(page);
});
