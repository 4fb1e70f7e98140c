/**
 * Pictures of the viewer for the documentation, in Debian's Chromium or the one that CHROMIUM names. The first
 * run should have `record.token_rows`, validations and signals of its evaluator; several runs are compared. Those of
 * `view-runs.ts` are made for it.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/view-screenshots.ts OUT RUN...
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { findTokenDecoder } from "../src/cli/load/token-decoder.ts";
import { startViewServer } from "../src/view/server/view-server.ts";

const [out, ...folders] = process.argv.slice(2);
if (out === undefined || folders.length === 0) {
  console.error("Usage: view-screenshots.ts OUT RUN...");
  process.exit(2);
}
const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
execFileSync(process.execPath, [join(import.meta.dirname, "build-view.mjs"), assets]);
const server = await startViewServer({
  folders,
  host: "127.0.0.1",
  port: 0,
  token: "a-token",
  assets,
  findDecoder: findTokenDecoder,
});
await server.ready;
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

interface Member {
  readonly row: { readonly n: number; readonly reward: number; readonly calls: number };
}

/** The episode of the first steps with the most surprising tokens, and the most distant rollout of its task. */
async function surprisingEpisode(page: Page): Promise<readonly [number, number]> {
  const read = async (path: string): Promise<unknown> =>
    (await page.request.get(`${server.url}/api/runs/0/${path}`)).json();
  let found: { n: number; surprises: number } = { n: 1, surprises: -1 };
  for (const step of [2, 3, 4, 5]) {
    const { rows } = (await read(`episodes?phase=train&step=${step}`)) as { rows: Member["row"][] };
    for (const { n, calls } of rows) {
      let surprises = 0;
      for (let call = 0; call < calls; call++) {
        const path = `episodes/${n}/tokens?call=${call}`;
        const { logprobs } = (await read(path)) as { logprobs: number[] };
        surprises += logprobs.filter((value) => value < -1).length;
      }
      if (surprises > found.surprises) found = { n, surprises };
    }
  }
  const group = (await read(`groups/${found.n}`)) as Member[];
  const own = group.find(({ row }) => row.n === found.n)?.row.reward ?? 0;
  const other = group.toSorted(
    (a, b) => Math.abs(b.row.reward - own) - Math.abs(a.row.reward - own),
  )[0];
  return [found.n, other?.row.n ?? found.n];
}

interface Picture {
  readonly name: string;
  readonly hash: string;
  readonly wait: string;
  /** Only this part of the page. @default what is on the screen */
  readonly part?: string;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

function pictures([n, other]: readonly [number, number]): readonly Picture[] {
  return [
    { name: "view-run", hash: "#/run/0", wait: "section[aria-label=Changes] .brief li" },
    {
      name: "view-episode",
      hash: `#/episode/0/${n}?overlay=log-probability`,
      wait: ".token-text span",
    },
    { name: "view-tasks", hash: "#/tasks/0", wait: ".map tr.selected" },
    {
      name: "view-reward",
      hash: "#/run/0",
      wait: ".correlations",
      part: "section[aria-label=Reward]",
      prepare: (page) => page.locator(".correlations > summary").click(),
    },
    { name: "view-diff", hash: `#/diff/0/${n}?with=${other}`, wait: ".sides pre" },
    ...(folders.length > 1
      ? [
          {
            name: "view-compare",
            hash: "#/runs",
            wait: "section[aria-label=Differences] tbody button",
          },
        ]
      : []),
  ];
}

try {
  for (const [end, colorScheme, viewport] of [
    ["", "light", { width: 1280, height: 800 }],
    ["-dark", "dark", { width: 1280, height: 800 }],
    ["-phone", "light", { width: 390, height: 800 }],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport });
    const page = await context.newPage();
    await page.goto(`${server.url}/?token=a-token`);
    for (const { name, hash, wait, part, prepare } of pictures(await surprisingEpisode(page))) {
      await page.goto(`${server.url}/${hash}`);
      await page.locator(wait).first().waitFor();
      await prepare?.(page);
      await page.waitForTimeout(500);
      const path = join(out, `${name}${end}.png`);
      if (part === undefined) await page.screenshot({ path });
      else {
        // It would lie over a part that is higher than the screen.
        await page.locator("header.top").evaluate((header) => {
          header.style.position = "static";
        });
        await page.locator(part).screenshot({ path });
        await page.reload();
      }
    }
    await context.close();
  }
} finally {
  await browser.close();
  await server[Symbol.asyncDispose]();
}
