/** A section of the page on the health of a run, as text. */
import { readFileSync } from "node:fs";

let page: string | undefined;

/** What `docs/health.md` says under the heading with this anchor; null where there is none. */
export function healthSection(anchor: string): string | null {
  page ??= readFileSync(new URL("../../../docs/health.md", import.meta.url), "utf8");
  for (const section of page.split(/^### /mu).slice(1)) {
    const [heading = "", ...lines] = section.split(/^## /mu, 1).join("").split("\n");
    if (heading.trim().toLowerCase().replaceAll(" ", "-") !== anchor) continue;
    return lines
      .join("\n")
      .trim()
      .replaceAll(/\[([^\]]+)\]\([^)]+\)/gu, "$1")
      .replaceAll(/\*\*|`/gu, "");
  }
  return null;
}
