/** One run of the demo's agent, trained once per build of the package, and its HTML file. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "../test/docs/pages.ts";

const main = join(root, "dist/cli/main.js");

function agentTrainer(...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [main, ...args], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error(`agent-trainer ${args.join(" ")} failed.`);
}

const modified = (file: string): number => (existsSync(file) ? statSync(file).mtimeMs : 0);

export interface RecordedRun {
  readonly folder: string;
  readonly html: string;
}

export function recordRun(cache: string): RecordedRun {
  const folder = join(cache, "runs", "shop");
  const html = join(cache, "recorded-run.html");
  if (modified(html) > modified(join(root, "dist/.built"))) return { folder, html };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  agentTrainer(
    "train",
    join(root, "examples/shop/shop.yaml"),
    `trainer.output_dir=${join(cache, "runs")}`,
    "trainer.experiment_name=shop",
    "trainer.seed=1",
    // The file should load at once.
    "record.episodes=16",
    "record.token_rows=4",
  );
  agentTrainer("view", folder, "--html", html);
  return { folder, html };
}
