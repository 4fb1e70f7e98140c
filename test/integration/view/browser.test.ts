/** The page in a real Chromium: Debian's `chromium`, or the one that CHROMIUM names. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { exportHtml } from "../../../src/view/html/export-html.ts";
import { RunIndex } from "../../../src/view/index/run-index.ts";
import { startViewServer, type ViewServer } from "../../../src/view/server/view-server.ts";
import { addEpisodes, newRunFolder } from "../../view/view-run.ts";
import { root } from "../root.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const token = "a-token";
const hostile = `</pre><script>window.owned=1</script><img src=x onerror="window.owned=1">\u202E\u001B[31m`;
const folder = newRunFolder();
const problems: string[] = [];
let browser: Browser;
let context: BrowserContext;
let server: ViewServer;
let page: Page;

beforeAll(async () => {
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} does not exist: install chromium, or set CHROMIUM.`);
  const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
  execFileSync(process.execPath, [join(root, "scripts", "build-view.mjs"), assets]);
  addEpisodes(folder, "000001.jsonl", [
    { id: "1/a/0", reward: 0, responses: ["first", hostile], ids: [65, 66, 67] },
    { id: "1/a/1", rollout: 1, reward: 1, responses: ["first", "z"], ids: [65, 66, 68] },
    { id: "1/long/0", task: "long", responses: ["w".repeat(1_000_000)] },
  ]);
  const metrics = [1, 2, 3].map((step) =>
    JSON.stringify({ step, phase: "train", "reward/mean": step / 3, "reward/std": 0 }),
  );
  writeFileSync(join(folder, "metrics.jsonl"), `${metrics.join("\n")}\n`);
  server = await startViewServer({
    folders: [folder],
    host: "127.0.0.1",
    port: 0,
    token,
    assets,
    findDecoder: () =>
      Promise.resolve((ids) => String.fromCharCode(...Array.from(ids, (id) => id))),
    pollMs: 50,
  });
  await server.ready;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  page = await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.goto(`${server.url}/?token=${token}`);
});

beforeEach(() => problems.splice(0));

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

const open = async (hash: string, wait: string): Promise<void> => {
  await page.goto(`${server.url}/${hash}`);
  await page.locator(wait).first().waitFor();
};

it("leads from runs to an episode by keyboard, without a complaint of the browser", async () => {
  await open("#/runs", "main tbody tr");
  await open("#/run/0", ".findings li");
  expect(await page.locator(".findings").innerText()).toContain("no reward variance");
  expect(await page.locator("canvas").count()).toBeGreaterThan(0);
  await open("#/episodes/0", "main tbody tr.selected");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("article h1").waitFor();
  expect(await page.locator("article h1").innerText()).toBe("1/a/1");
  await page.keyboard.press("j");
  await expect.poll(() => page.locator("article h1").innerText()).toBe("1/a/0");
  await page.keyboard.press("c");
  await expect.poll(() => page.locator("article").innerText()).toContain("Copied as Markdown.");
  const copied = await page.evaluate("navigator.clipboard.readText()");
  expect(copied).toContain("# Episode 1/a/0");
  await page.keyboard.press("Escape");
  await page.locator("main tbody tr").first().waitFor();
  expect(problems).toEqual([]);
});

it("shows what a model wrote as text, whatever it is", async () => {
  await open("#/episode/0/1", "pre.assistant");
  const text = await page.locator("article").innerText();
  expect(text).toContain("</pre><script>window.owned=1</script>");
  expect(text).toContain("⟨U+202E⟩␛[31m");
  expect(await page.evaluate("window.owned ?? null")).toBeNull();
  await open("#/episode/0/3", "pre.assistant");
  await page
    .getByRole("button", { name: /Show all 1,000,000/u })
    .first()
    .click();
  expect(await page.locator("pre.assistant").evaluate((one) => one.textContent.length)).toBe(1e6);
  expect(problems).toEqual([]);
});

it("inspects tokens, and marks where rollouts part", async () => {
  await open("#/episode/0/1?tokens=0", "button.token");
  expect(await page.locator("button.token").allInnerTexts()).toEqual(["A", "B", "C"]);
  await page.locator("button.token").nth(2).click();
  await expect.poll(() => page.locator(".tokens table").innerText()).toContain("-0.50000");
  await open("#/group/0/1", "mark");
  expect(await page.locator("mark").allInnerTexts()).toEqual(["D"]);
  expect(problems).toEqual([]);
});

it("filters, and grows while the run writes", async () => {
  await open("#/episodes/0?text=first&minReward=0.5", "main tbody tr");
  expect(await page.locator("main tbody th").allInnerTexts()).toEqual(["1/a/1"]);
  await open("#/episodes/0", "main tbody tr");
  addEpisodes(folder, "000002.jsonl", [{ id: "2/new/0", responses: ["news"] }]);
  await expect.poll(() => page.locator("main tbody th").allInnerTexts()).toContain("2/new/0");
  expect(problems).toEqual([]);
});

it("fits a phone, in the dark too", async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  for (const hash of ["#/runs", "#/run/0", "#/episodes/0", "#/episode/0/1", "#/group/0/1"]) {
    await open(hash, "main h1");
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width, hash).toBeLessThanOrEqual(390);
  }
  const color = await page.evaluate("getComputedStyle(document.body).backgroundColor");
  expect(color).toBe("rgb(13, 17, 23)");
  await page.setViewportSize({ width: 1200, height: 800 });
});

it("writes a file that is readable without JavaScript", async () => {
  using index = new RunIndex(folder);
  await index.extend();
  const file = join(folder, "out.html");
  writeFileSync(file, (await exportHtml(folder, index)).text);
  const plain = await browser.newContext({ javaScriptEnabled: false, offline: true });
  const view = await plain.newPage();
  await view.goto(`file://${file}`);
  await view.locator("article#e1 summary").first().click();
  expect(await view.locator("article#e1").innerText()).toContain("<script>window.owned=1</script>");
  await expect(view.evaluate("getComputedStyle(document.body).maxWidth")).resolves.not.toBe("none");
  await plain.close();
});
