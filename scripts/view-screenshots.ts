/**
 * Pictures of the viewer for the documentation, in Debian's Chromium or the one that CHROMIUM names.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/view-screenshots.ts RUN [OUT]
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { startViewServer } from "../src/view/server/view-server.ts";

const [run, out = join(import.meta.dirname, "../docs/images")] = process.argv.slice(2);
if (run === undefined) {
  console.error("Usage: view-screenshots.ts RUN [OUT]");
  process.exit(2);
}
const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
execFileSync(process.execPath, [join(import.meta.dirname, "build-view.mjs"), assets]);
const server = await startViewServer({
  folders: [run],
  host: "127.0.0.1",
  port: 0,
  token: "a-token",
  assets,
  findDecoder: () => Promise.resolve(null),
});
await server.ready;
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const wide = { width: 1200, height: 800 };
try {
  for (const [name, colorScheme, viewport] of [
    ["view-run", "light", wide],
    ["view-run-dark", "dark", wide],
    ["view-run-phone", "light", { width: 390, height: 800 }],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport });
    const page = await context.newPage();
    await page.goto(`${server.url}/?token=a-token`);
    await page
      .locator("a", { hasText: run.split("/").at(-1)! })
      .first()
      .click();
    await page.locator("canvas").first().waitFor();
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(out, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await server[Symbol.asyncDispose]();
}
