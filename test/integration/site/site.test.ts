/** `npm run site`, and what it built in a real Chromium: Debian's `chromium`, or the one that CHROMIUM names. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { readContents } from "../../../scripts/contents.ts";
import { root } from "../root.ts";
import { siteFile, type SiteServer, startSiteServer } from "./site-server.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const base = "/somewhere/";
const dist = join(root, "site/dist");
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
const problems: string[] = [];
let server: SiteServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} does not exist: install chromium, or set CHROMIUM.`);
  const env = { ...process.env, SITE_BASE: base, SITE_REPOSITORY: "" };
  execFileSync("npm", ["run", "site"], {
    cwd: root,
    env,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  server = await startSiteServer(dist, base);
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  page = await browser.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`${message.text()} ${message.location().url}`);
  });
});
beforeEach(() => problems.splice(0));
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

const open = async (path: string): Promise<void> => {
  await page.goto(`${server.url}${path}`);
  await page.locator(".VPDoc h1").first().waitFor();
};

const htmlFiles = (): readonly string[] =>
  readdirSync(dist, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    // That of the viewer has links to itself alone.
    .filter(
      (file) => file.endsWith(".html") && !["404.html", "recorded-run-page.html"].includes(file),
    );

const read = (file: string): string => readFileSync(file, "utf8");
const unescaped = (text: string): string => text.replaceAll("&amp;", "&");

it("has no link that leads nowhere, with its anchor", () => {
  const broken: string[] = [];
  const ids = new Map<string, ReadonlySet<string>>();
  const idsOf = (file: string): ReadonlySet<string> => {
    const found =
      ids.get(file) ?? new Set([...read(file).matchAll(/ id="([^"]*)"/gu)].map((one) => one[1]!));
    ids.set(file, found);
    return found;
  };
  let links = 0;
  for (const file of htmlFiles()) {
    const at = new URL(`http://site${base}${file.replace(/(?:index)?\.html$/u, "")}`);
    for (const [, href] of read(join(dist, file)).matchAll(/ (?:href|src)="([^"]*)"/gu)) {
      const target = new URL(unescaped(href!), at);
      if (target.origin !== at.origin) continue;
      links++;
      const isBelow = target.pathname.startsWith(base);
      const found = isBelow ? siteFile(dist, target.pathname.slice(base.length)) : null;
      const anchor = decodeURIComponent(target.hash.slice(1));
      if (found === null || (anchor !== "" && !idsOf(found).has(anchor)))
        broken.push(`${file}: ${href}`);
    }
  }
  console.log(`${links} links on ${htmlFiles().length} pages`);
  expect(links).toBeGreaterThan(2_000);
  expect([...new Set(broken)]).toEqual([]);
});

it("has every page of the list in its sidebar, and the API reference", async () => {
  await open("contents");
  const hrefs = await page
    .locator(".VPSidebar a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  const entries = readContents().flatMap((section) => section.entries);
  expect(hrefs).toHaveLength(entries.length + 1);
  await open("api/gateway");
  expect(await page.locator("h1").innerText()).toContain("gateway");
  expect(problems).toEqual([]);
});

it("is searchable", async () => {
  await open("");
  await page.locator(".VPNavBarSearch button").first().click();
  await page.locator(".VPLocalSearchBox input").fill("overlong penalty");
  const result = page.locator(".VPLocalSearchBox .result").first();
  await result.waitFor();
  await result.click();
  await page.waitForURL((url) => url.pathname !== base);
  expect(await page.locator("main").innerText()).toMatch(/overlong/iu);
  expect(problems).toEqual([]);
});

it("has a dark mode that it remembers", async () => {
  await open("tutorial");
  const color = (): Promise<string> =>
    page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--vp-c-bg')");
  const light = await color();
  await page.locator(".VPNavBarAppearance .VPSwitchAppearance").click();
  await expect.poll(color).not.toBe(light);
  const dark = await color();
  await page.reload();
  expect(await color()).toBe(dark);
  await page.evaluate("localStorage.clear()");
  expect(problems).toEqual([]);
});

it("has curves whose points can be read", async () => {
  for (const [path, count] of [
    ["", 1],
    ["cookbooks", 4],
    ["fine-tuning", 2],
    ["environments", 1],
  ] as const) {
    await open(path);
    await expect.poll(() => page.locator(".live-chart canvas").count()).toBe(count);
  }
  await open("cookbooks");
  const chart = page.locator(".live-chart").first();
  await chart.locator("canvas").waitFor();
  await chart.scrollIntoViewIfNeeded();
  await chart.locator(".u-over").hover();
  await expect.poll(() => chart.locator(".u-legend").innerText()).toMatch(/reward\D*0\.\d/u);
  expect(problems).toEqual([]);
});

it("embeds a recorded run in the viewer", async () => {
  await open("recorded-run");
  const viewer = page.frameLocator("iframe.recorded-run");
  await viewer.locator("body").waitFor();
  const text = await viewer.locator("body").evaluate((body) => body.textContent);
  expect(text).toMatch(/How much do \d+ \w+ cost/u);
  expect(problems).toEqual([]);
});

it("has pages and llms.txt for programs", async () => {
  const text = await (await fetch(`${server.url}llms.txt`)).text();
  expect(text).toMatch(/^# agent-trainer\n\n> /u);
  const links = [...text.matchAll(/\]\(([^)]+)\)/gu)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(40);
  const responses = await Promise.all(links.map((link) => fetch(new URL(link, server.url))));
  expect(responses.filter(({ ok }) => !ok).map(({ url }) => url)).toEqual([]);
});

it("is readable without JavaScript", async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const view = await plain.newPage();
  await view.goto(`${server.url}cookbooks`);
  expect(await view.locator("h1").innerText()).toContain("Cookbooks");
  expect(await view.locator("main img").count()).toBeGreaterThan(3);
  await plain.close();
});

it("has no contrast below WCAG AA and no missing label, in the light and in the dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const path of ["", "tutorial", "cookbooks", "options", "api/gateway", "recorded-run"]) {
      await open(path);
      await page.waitForLoadState("networkidle");
      await page.evaluate(axeSource);
      const found = await page.evaluate(
        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'], iframes: false }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(' ')}`))",
      );
      expect(found, `${colorScheme} ${path}`).toEqual([]);
    }
  }
});

it("fits a phone", async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  for (const path of ["", "cookbooks", "options", "recorded-run"]) {
    await open(path);
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width, path).toBeLessThanOrEqual(390);
  }
});
