/** The pages of settings over seeds and of rounds in a real Chromium: what they say, on a screen and a phone, and axe-core. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startViewServer, type ViewServer } from "../../../src/view/server/view-server.ts";
import { root } from "../root.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
const token = "a-token";
const refusal = "The reward is 0.670, 0.030 below that of the model in use.";

/** A run of ten steps that reaches `end`. */
function writeRun(folder: string, seed: number, rate: number, end: number): void {
  mkdirSync(folder, { recursive: true });
  const config = `model:\n  name: coin\nbackend: local\ntrainer:\n  seed: ${seed}\ntraining:\n  learning_rate: ${rate}\n`;
  writeFileSync(join(folder, "config.resolved.yaml"), config);
  const events = [
    { type: "run-start", totalSteps: 10 },
    { type: "run-end", status: "completed" },
  ];
  const steps = Array.from({ length: 10 }, (_, i) => ({
    step: i + 1,
    phase: "train",
    "reward/mean": (end * (i + 1)) / 10,
    "reward/std": 0.1,
  }));
  const metrics = [...steps, { step: 10, phase: "val", "val/reward/mean": end }];
  const lines = (all: readonly object[]): string =>
    all.map((one) => `${JSON.stringify(one)}\n`).join("");
  writeFileSync(join(folder, "events.jsonl"), lines(events));
  writeFileSync(join(folder, "metrics.jsonl"), lines(metrics));
}

function writeRound(folder: string, round: number, more: object): void {
  const path = join(folder, `round-${String(round).padStart(6, "0")}`);
  writeRun(path, round, 1e-5, 0.5);
  const inUse = { model: "coin", version: null };
  const base = { format: "agent-trainer/round/1", round, startedAt: 0, endedAt: 1, options: {} };
  writeFileSync(
    join(path, "round.json"),
    JSON.stringify({ ...base, store: "none", inUse, ...more }),
  );
}

let browser: Browser;
let page: Page;
let server: ViewServer;

beforeAll(async () => {
  const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
  execFileSync(process.execPath, [join(root, "scripts", "build-view.mjs"), assets]);
  const runs = mkdtempSync(join(tmpdir(), "agent-trainer-seeds-"));
  const folders: string[] = [];
  for (const [rate, end] of [
    [0.1, 0.4],
    [0.01, 0.8],
  ] as const) {
    for (const seed of [0, 1, 2]) {
      const folder = join(runs, `rate-${rate}-seed-${seed}`);
      writeRun(folder, seed, rate, end + seed / 100);
      folders.push(folder);
    }
  }
  const rounds = mkdtempSync(join(tmpdir(), "agent-trainer-rounds-"));
  writeRound(rounds, 1, { status: "running" });
  writeRound(rounds, 2, {
    status: "refused",
    gate: {
      verdict: "not better",
      misses: [{ rule: "reward", message: refusal, missedBy: 0.04 }],
      tasks: 120,
      difference: { current: 0.7, candidate: 0.67, difference: -0.03, low: -0.08, high: 0.02 },
      gained: [],
    },
  });
  server = await startViewServer({
    folders: [...folders, join(rounds, "round-000001"), join(rounds, "round-000002")],
    ...{ host: "127.0.0.1", port: 0, token, assets },
    findDecoder: () => Promise.resolve(null),
  });
  await server.ready;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  page = await browser.newPage();
  await page.goto(`${server.url}/?token=${token}`);
});
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

it("shows runs over seeds as settings, the best first, before its runs", async () => {
  await page.goto(`${server.url}/#/runs`);
  const settings = page.locator("section[aria-label=Settings]");
  await settings.locator("tbody tr").first().waitFor();
  const [first] = await settings.locator("tbody tr").allInnerTexts();
  expect(first).toContain("learning_rate 0.01");
  expect(first).toContain("0.810");
  expect(first).toContain("0.8 to 0.82");
  const labels = await page
    .locator("main section")
    .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  expect(labels.indexOf("Settings")).toBeLessThan(labels.indexOf("All runs"));
  await expect
    .poll(() => page.locator("section[aria-label=Curves]").innerText())
    .toContain("learning_rate 0.01, 3 seeds");
});

it("shows a round with the reason of its refusal, the newest first", async () => {
  await page.goto(`${server.url}/#/rounds`);
  await page.locator("section[aria-label='Round 2']").waitFor();
  const titles = await page.locator("main h2").allInnerTexts();
  expect(titles).toEqual(["Round 2", "Round 1"]);
  expect(await page.locator("section[aria-label='Round 2']").innerText()).toContain(refusal);
});

it.each([
  ["light", 1280],
  ["dark", 1280],
  ["light", 390],
  ["dark", 390],
] as const)("fits and passes axe-core: %s, %d pixels", async (colorScheme, width) => {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 800 });
  for (const [hash, wait] of [
    ["#/runs", "section[aria-label=Settings] tbody tr"],
    ["#/rounds", "section[aria-label='Round 2']"],
  ] as const) {
    await page.goto(`${server.url}/${hash}`);
    await page.locator(wait).first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), hash).toBe(
      true,
    );
    await page.evaluate(axeSource);
    const found = await page.evaluate(
      "axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))",
    );
    expect(found, hash).toEqual([]);
  }
});
