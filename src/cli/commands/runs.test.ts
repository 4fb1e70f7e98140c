import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { runCli } from "../program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-trainer-runs-"));
  const shop = join(folder, "shop");
  mkdirSync(join(shop, "checkpoints"), { recursive: true });
  writeFileSync(join(shop, "config.resolved.yaml"), "backend: local\nmodel: {name: tiny}\n");
  writeFileSync(join(shop, "metrics.jsonl"), '{"step":1,"phase":"train","reward/mean":0.25}\n');
  writeFileSync(join(shop, "events.jsonl"), '{"type":"run-start","totalSteps":4}\n');
});

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["runs", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it("lists runs as a table, or as JSON", async () => {
  const { code, out } = await run("list", folder);
  expect(code).toBe(0);
  const [header, row] = out.trim().split("\n");
  expect(header).toMatch(/^name +model +status +steps +reward +best validation +size +age$/u);
  expect(row).toMatch(/^shop +tiny +stopped +1\/4 +0\.250 → 0\.250 +- +\d+ \w+ +0 min$/u);
  const asJson = await run("list", folder, "--json");
  expect(JSON.parse(asJson.out)).toMatchObject([{ name: "shop", steps: 1, totalSteps: 4 }]);
});

it("shows one run", async () => {
  const { out } = await run("show", join(folder, "shop"));
  expect(out).toMatch(/^status +stopped$/mu);
  expect(out).toMatch(/^checkpoints +none$/mu);
  const { code, err } = await run("show", join(folder, "shp"));
  expect(code).toBe(2);
  expect(err).toContain("There is no run in ");
});

it("refuses to delete without --yes", async () => {
  const { code, out, err } = await run("gc", folder);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("needs --yes");
  expect(readdirSync(join(folder, "shop"))).toContain("checkpoints");
  expect((await run("gc", folder, "--yes")).out).toBe("deleted 0 B\n");
  expect((await run("gc", folder, "--dry-run", "--json")).out).toContain('"deleted":[]');
});

it("has examples in --help", async () => {
  for (const args of [[], ["list"], ["show"], ["gc"]]) {
    expect((await run(...args, "--help")).out).toContain("Examples:\n");
  }
});
