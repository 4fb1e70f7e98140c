/** The page in a real Chromium: Debian's `chromium`, or the one that CHROMIUM names. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import type { Episode } from "../../../src/core/trajectory.ts";
import { exportHtml } from "../../../src/view/html/export-html.ts";
import { RunIndex } from "../../../src/view/index/run-index.ts";
import { startViewServer, type ViewServer } from "../../../src/view/server/view-server.ts";
import { coinBackend } from "../../trainer/coin-backend.ts";
import { coinTrainer, newFolder } from "../../trainer/coin-run.ts";
import { addEpisodes, newRunFolder } from "../../view/view-run.ts";
import { root } from "../root.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const token = "a-token";
/** axe-core, the checker of accessibility; evaluated as text, since the page's policy loads no other script. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
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
  const outputDir = newFolder();
  const backend = coinBackend({ capabilities: { forward: true }, onForward: () => undefined });
  await coinTrainer({
    outputDir,
    backend,
    evaluator: (_task: Task, episode: Episode) => {
      const value = episode.output === "yes" ? 1 : 0;
      return { reward: value, isCorrect: value === 1, signals: [{ name: "sure", value }] };
    },
    set: {
      "trainer.total_batches": 4,
      "algorithm.filter_uniform_groups": false,
      "record.token_rows": -1,
      "record.http_body_kb": 8,
    },
  }).trainer.train();
  const failed = newRunFolder();
  const end = { type: "run-end", status: "failed", message: "The disk is full \u001B[31m." };
  writeFileSync(join(failed, "events.jsonl"), `${JSON.stringify(end)}\n`);
  server = await startViewServer({
    folders: [folder, join(outputDir, "coin"), failed],
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

/** Until nothing is read any more: the stream of news is never at its end, so the network is not asked. */
async function settle(): Promise<void> {
  await expect.poll(() => page.locator(".pending").count(), { timeout: 20_000 }).toBe(0);
}

/** Above it is a table of settings, since two of the runs have the same options. */
const runRows = "section[aria-label='All runs'] tbody tr";

it("leads from runs to an episode by keyboard, without a complaint of the browser", async () => {
  await open("#/runs", "main tbody tr");
  const [first] = await page.locator(runRows).allInnerTexts();
  expect(first).toContain("problem: no reward variance");
  await open("#/run/0", ".findings li");
  expect(await page.locator(".findings").innerText()).toContain("no reward variance");
  expect(await page.locator("canvas").count()).toBeGreaterThan(0);
  await open("#/episodes/0", "main tbody tr.selected");
  // The link that was clicked last has the focus.
  await page.locator("nav a", { hasText: "Episodes" }).click();
  await page.locator("main tbody tr.selected").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("article h1").waitFor();
  expect(await page.locator("article h1").innerText()).toBe("Say something.");
  expect(await page.locator(".episode-id").innerText()).toBe("1/a/1");
  await page.keyboard.press("j");
  await expect.poll(() => page.locator(".episode-id").innerText()).toBe("1/a/0");
  await page.keyboard.press("c");
  await expect.poll(() => page.locator("article").innerText()).toContain("Copied as Markdown.");
  const copied = await page.evaluate("navigator.clipboard.readText()");
  expect(copied).toContain("# Episode 1/a/0");
  await page.keyboard.press("Escape");
  await page.locator("main tbody tr").first().waitFor();
  expect(problems).toEqual([]);
});

it("opens a run from the list by keyboard", async () => {
  await open("#/runs", "main tbody tr.selected");
  const names = await page.locator(`${runRows} > th`).allInnerTexts();
  await page.keyboard.press("j");
  await expect
    .poll(() => page.locator("main tbody tr.selected th").first().innerText())
    .toBe(names[1]);
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("main h1").innerText()).toBe(names[1]);
  expect(problems).toEqual([]);
});

it("begins with the reason of a run that failed, and calls nothing of it healthy", async () => {
  await open("#/run/2", ".banner.bad");
  await page.locator("section[aria-label=Health]").waitFor();
  const text = await page.locator("main").innerText();
  expect(text.startsWith("failed: The disk is full ␛[31m.")).toBe(true);
  expect(text).toContain("Is it healthy?");
  await expect.poll(() => page.locator("main").innerText()).toContain("Why it ended is said above");
  expect(await page.locator("main .good").count()).toBe(0);
  expect(await page.locator("main").innerText()).toContain("No step has been measured yet.");
  const [reason, heading] = await Promise.all([
    page.locator(".banner.bad").boundingBox(),
    page.locator("main h1").boundingBox(),
  ]);
  expect(reason!.y).toBeLessThan(heading!.y);
  await open("#/episodes/2", "main p[role=status]");
  await expect
    .poll(() => page.locator("main").innerText())
    .toContain("0 episodes. None has been recorded yet.");
  await open("#/runs", "main tbody tr");
  expect(await page.locator("main").innerText()).toContain("The disk is full ␛[31m.");
  expect(problems).toEqual([]);
});

it("says what it is waiting for, and what does not answer", async () => {
  const other = await context.newPage();
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  await other.route("**/api/runs", async (route) => {
    await asked;
    await route.abort();
  });
  await other.goto(`${server.url}/#/runs`);
  await expect.poll(() => other.locator("main").innerText()).toBe("Loading the runs …");
  answer();
  await expect
    .poll(() => other.locator("main").innerText())
    .toContain("Cannot load the runs: the viewer does not answer.");
  await other.close();
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
  for (const hash of [
    "#/runs",
    "#/run/0",
    "#/run/2",
    "#/tasks/1",
    "#/episodes/0",
    "#/episode/0/1",
    "#/group/0/1",
  ]) {
    await open(hash, "main h1");
    await settle();
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width, hash).toBeLessThanOrEqual(390);
  }
  const color = await page.evaluate("getComputedStyle(document.body).backgroundColor");
  expect(color).toBe("rgb(14, 17, 22)");
  await page.setViewportSize({ width: 1200, height: 800 });
});

it("puts any two rollouts side by side", async () => {
  await open("#/group/0/1", "main select");
  await page.keyboard.press("d");
  await page.locator("ins").first().waitFor();
  expect(await page.locator("main h1").innerText()).toBe("Two rollouts");
  const notes = await page.locator("main h2").allInnerTexts();
  expect(notes[0]).toContain("first token that differs: 3, ids 67 and 68");
  expect(await page.locator("del").first().innerText()).toBe("C");
  expect(await page.locator("ins").first().innerText()).toBe("D");
  await page.getByLabel("Id or number of the second episode").fill("1/long/0");
  await page.keyboard.press("Tab");
  await expect.poll(() => page.locator("main").innerText()).toContain("1/long/0");
  expect(problems).toEqual([]);
});

it("replays an episode message by message", async () => {
  await open("#/episode/0/1", "pre.assistant");
  await page.keyboard.press("r");
  await expect.poll(() => page.locator(".message").count()).toBe(1);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.locator(".message").count()).toBe(3);
  expect(await page.locator(".replay").innerText()).toContain("message 3 of 5");
  await page.keyboard.press("End");
  await expect.poll(() => page.locator(".message").count()).toBe(5);
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator(".replay").count()).toBe(0);
  expect(await page.locator(".episode-id").innerText()).toBe("1/a/0");
  expect(problems).toEqual([]);
});

it("shows a call's tokens as they were trained, and its HTTP bodies", async () => {
  await open("#/episode/1/1?tokens=0", "button.token");
  const inspector = page.locator(".tokens");
  expect(await inspector.innerText()).toContain("importance ratio, training / sampling");
  await inspector.locator("select").selectOption("advantage");
  await expect.poll(() => inspector.locator(".more3, .less3").count()).toBeGreaterThan(0);
  await inspector.getByRole("button", { name: "Largest gap" }).click();
  await open("#/episode/1/1?http=0", "pre.raw");
  const http = await page.locator(".tokens").innerText();
  expect(http).toContain("POST /v1/chat/completions");
  expect(http).toContain('"messages"');
  expect(problems).toEqual([]);
});

it("correlates the parts of a reward, and compares runs with intervals", async () => {
  await open("#/run/1", ".correlations");
  await page.locator(".correlations > summary").click();
  expect(await page.locator(".matrix").innerText()).toMatch(/sure\s+1\.00/u);
  await open("#/runs", "section[aria-label=Differences] tbody tr");
  const differences = page.locator("section[aria-label=Differences]");
  await expect.poll(() => differences.innerText()).toMatch(/\d+ tasks?, \d+ options?/u);
  await differences
    .getByRole("button", { name: /option/u })
    .first()
    .click();
  await expect.poll(() => differences.innerText()).toContain("record.token_rows");
  expect(problems).toEqual([]);
});

it("answers the four questions of a run on one screen", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open("#/run/1", "canvas");
  await settle();
  for (const name of ["Learning", "Health", "Changes", "Cost"]) {
    const box = await page.locator(`section[aria-label=${name}]`).boundingBox();
    expect(box!.y + box!.height, name).toBeLessThanOrEqual(800);
  }
  await page.setViewportSize({ width: 1200, height: 800 });
  expect(problems).toEqual([]);
});

it("smooths, scales and pins charts, and remembers it", async () => {
  await open("#/run/1", "canvas");
  await page.getByLabel("log").check();
  await page.getByLabel("Smoothing").fill("0.8");
  const pin = page.getByRole("button", { name: "Pin train/loss" });
  const find = page.getByLabel("Find metrics");
  await find.fill("train/loss");
  await pin.first().click();
  await find.fill("");
  await page.reload();
  const pinned = page.locator("section[aria-label=Pinned]");
  await pinned.waitFor();
  expect(await pinned.innerText()).toContain("train/loss");
  expect(await page.getByLabel("log").isChecked()).toBe(true);
  expect(await page.getByLabel("Smoothing").inputValue()).toBe("0.8");
  await pinned.getByRole("button").first().click();
  await expect.poll(() => pinned.count()).toBe(0);
  await page.getByLabel("log").uncheck();
  await page.getByLabel("Smoothing").fill("0");
  expect(problems).toEqual([]);
});

it("shows the step that is pointed at in all charts", async () => {
  await open("#/run/1", "section[aria-label=Metrics] canvas");
  await page.locator("section[aria-label=Learning] .u-over").hover();
  const readings = page.locator("section[aria-label=Metrics] figcaption");
  await expect.poll(async () => (await readings.first().innerText()).includes("step ")).toBe(true);
  const [first, second] = await readings.allInnerTexts();
  const step = /step \d+/u.exec(first!)![0];
  expect(second).toContain(step);
  expect(problems).toEqual([]);
});

it("keeps its charts while the run writes, so that nothing flickers", async () => {
  await open("#/run/0", "section[aria-label=Learning] canvas");
  await page.evaluate("document.querySelector('canvas').id = 'the-same'");
  const line = { step: 4, phase: "train", "reward/mean": 0.75, "reward/std": 0 };
  appendFileSync(join(folder, "metrics.jsonl"), `${JSON.stringify(line)}\n`);
  await expect
    .poll(() => page.locator("section[aria-label=Learning]").innerText(), { timeout: 20_000 })
    .toContain("0.75");
  expect(await page.locator("#the-same").count()).toBe(1);
  const settings = { animations: "disabled" } as const;
  const before = await page.screenshot(settings);
  // Something that this page does not show.
  addEpisodes(folder, "000003.jsonl", []);
  await page.waitForTimeout(500);
  expect((await page.screenshot(settings)).equals(before)).toBe(true);
  expect(problems).toEqual([]);
});

it("maps tasks by steps, and opens the rollouts of a cell", async () => {
  await open("#/tasks/1", ".map tbody tr.selected");
  expect(await page.locator("main").innerText()).toMatch(/mean of \d+ tasks?/u);
  await page.locator(".map tr.selected .strip").click({ position: { x: 5, y: 5 } });
  await expect.poll(() => page.locator("main h1").innerText()).toMatch(/^Task .*, step \d+$/u);
  await open("#/tasks/1", ".map tbody tr.selected");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("main h1").innerText()).toMatch(/^Task .*, step \d+$/u);
  await open("#/tasks/1?find=no+such+task", ".map");
  expect(await page.locator("main").innerText()).toContain(
    "No task has all of what is filtered by.",
  );
  await open("#/tasks/2", "main h1");
  await expect
    .poll(() => page.locator("main").innerText())
    .toContain("No episode has been recorded yet");
  expect(problems).toEqual([]);
});

it("shows what was expected and what came, and the other rollouts by reward", async () => {
  await open("#/episode/0/1", ".siblings li");
  const outcome = await page.locator(".outcome").innerText();
  expect(outcome).toContain("Expected");
  expect(outcome).toContain("✕ incorrect");
  const siblings = await page.locator(".siblings li").allInnerTexts();
  expect(siblings.map((text) => text.split("\n")[0])).toEqual(["rollout 1", "this one"]);
  expect(await page.locator(".siblings ins").first().innerText()).toBe("only there");
  expect(problems).toEqual([]);
});

it("colors the text of a conversation by a number of its tokens", async () => {
  await open("#/episode/0/1", "article h1");
  await page.getByLabel("Colour the text by").selectOption("log-probability");
  await expect.poll(() => page.locator(".token-text span").count()).toBeGreaterThan(0);
  expect(await page.locator(".token-text").first().innerText()).toBe("ABC");
  await open("#/episode/0/1?overlay=entropy", ".message.assistant");
  await expect.poll(() => page.locator("article").innerText()).toContain("no entropy is known");
  expect(problems).toEqual([]);
});

it("gives runs other names, and overlays those that are chosen", async () => {
  await open("#/runs", "main tbody tr.selected");
  await page.locator(".rename").first().click();
  await page.keyboard.type("my best run");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.locator(`${runRows} > th`).first().innerText())
    .toContain("my best run");
  await page.keyboard.press("x");
  await expect
    .poll(() => page.locator(".swatch-button").first().getAttribute("aria-pressed"))
    .toBe("false");
  await page.locator(".rename").first().click();
  await page.locator(`${runRows} > th input`).fill("");
  await page.keyboard.press("Enter");
  expect(problems).toEqual([]);
});

it("is light or dark as one chooses", async () => {
  await page.emulateMedia({ colorScheme: "light" });
  await open("#/runs", "main h1");
  const color = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const button = page.getByRole("button", { name: /^Theme/u });
  await button.click();
  await button.click();
  await expect.poll(color).toBe("rgb(14, 17, 22)");
  await page.reload();
  await page.locator("main h1").waitFor();
  expect(await color()).toBe("rgb(14, 17, 22)");
  await button.click();
  await expect.poll(color).toBe("rgb(246, 247, 249)");
});

it("lays every page out alike in the light and in the dark", async () => {
  const boxes = (): Promise<unknown> =>
    page.evaluate(
      "[...document.querySelectorAll('main *')].map((one) => { const { x, y, width, height } = one.getBoundingClientRect(); return [one.tagName, x, y, width, height].join(' '); })",
    );
  for (const hash of ["#/runs", "#/run/1", "#/tasks/1", "#/episodes/1", "#/episode/1/1"]) {
    await page.emulateMedia({ colorScheme: "light" });
    await open(hash, "main h1");
    await settle();
    await page.waitForTimeout(300);
    const light = await boxes();
    const picture = await page.screenshot();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForTimeout(300);
    expect(await boxes(), hash).toEqual(light);
    expect((await page.screenshot()).equals(picture), hash).toBe(false);
  }
  expect(problems).toEqual([]);
});

it("has no contrast below WCAG AA and no missing label, in the light and in the dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const hash of [
      "#/runs",
      "#/run/1",
      "#/run/2",
      "#/tasks/0",
      "#/tasks/1",
      "#/episodes/0",
      "#/episode/1/1?overlay=advantage",
      "#/episode/1/1?tokens=0",
      "#/episode/1/1?http=0",
      "#/group/0/1",
      "#/diff/0/1?with=2",
    ]) {
      await open(hash, "main h1");
      await settle();
      await page.evaluate(
        "for (const one of document.querySelectorAll('main details')) one.open = true",
      );
      await settle();
      await page.evaluate(axeSource);
      const found = (await page.evaluate(
        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(' ')}`))",
      )) as string[];
      expect(found, `${colorScheme} ${hash}`).toEqual([]);
    }
  }
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
