/**
 * What `npm test` and CI run: static checks, one after the other, beside the tests. Each runs to its
 * end even when an earlier one failed, and nothing is tried again. Tests print a line per file, a
 * static check what it found when it ends. The last line adds everything up: N passed, N failed,
 * N skipped.
 *
 *   node scripts/check.mjs [--changed] [--only NAME]
 *
 * --changed checks the files that differ from main, and runs the unit tests that import them.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { changedFiles, checksOf } from "./changed-files.mjs";

const { values: flags } = parseArgs({
  options: { changed: { type: "boolean", default: false }, only: { type: "string" } },
});
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = mkdtempSync(join(tmpdir(), "agent-trainer-check-"));
const countsFile = join(scratch, "counts.json");

const isWanted = ({ name }) => flags.only === undefined || flags.only === name;
const all = {
  static: [
    { name: "format", command: ["oxfmt", "--check"] },
    { name: "lint", command: ["oxlint", "--deny-warnings"] },
    { name: "types", command: ["tsc", "--noEmit", "-p", "tsconfig.json"] },
    { name: "types of the page", command: ["tsc", "--noEmit", "-p", "src/view/app"] },
    { name: "publint", command: ["publint", "--strict"] },
  ],
  tests: ["vitest", "run"],
};
const changed = flags.changed ? changedFiles(root) : null;
const checks = changed === null ? all : checksOf(root, changed);
const staticChecks = checks.static.filter(isWanted);
const tests = { name: "tests", command: checks.tests };
if (changed !== null) console.log(`== ${changed.length} files differ from main`);

const begun = Date.now();
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** Ends with the exit status and, with `isQuiet`, what was printed. */
function run(command, isQuiet) {
  const child = spawn("npx", ["--no-install", ...command], {
    cwd: root,
    stdio: isQuiet ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
    env: { ...process.env, TEST_COUNTS_FILE: countsFile },
    shell: process.platform === "win32",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ status: 1, output: `${error.message}\n` }));
    child.on("close", (status) => resolve({ status, output }));
  });
}

function report({ name, command }, started, { status, output = "" }) {
  const verdict = status === 0 ? "ok" : "FAILED";
  const time = `${seconds(started)}, ${seconds(begun)} since the start`;
  const found = status === 0 ? "" : output;
  const shown = command.length > 8 ? [...command.slice(0, 6), "..."] : command;
  console.log(`${found}== ${name} (${shown.join(" ")}): ${verdict} in ${time}`);
}

/** A static check counts as one test. */
async function runStatic() {
  const results = [];
  for (const check of staticChecks) {
    const started = Date.now();
    const result = await run(check.command, true);
    report(check, started, result);
    const hasPassed = result.status === 0;
    const count = { passed: Number(hasPassed), failed: Number(!hasPassed), skipped: 0 };
    results.push({ name: check.name, ...count });
  }
  return results;
}

async function runTests() {
  if (tests.command === null || !isWanted(tests)) return [];
  const started = Date.now();
  const result = await run(tests.command, false);
  report(tests, started, result);
  const hasPassed = result.status === 0;
  try {
    const counts = JSON.parse(readFileSync(countsFile, "utf8"));
    // A crash outside of any test must not pass unseen.
    const failed = hasPassed ? counts.failed : Math.max(counts.failed, 1);
    return [{ name: tests.name, ...counts, failed }];
  } catch {
    return [{ name: tests.name, passed: 0, failed: 1, skipped: 0 }];
  }
}

const results = (await Promise.all([runTests(), runStatic()])).flat();
rmSync(scratch, { recursive: true });
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const failed = results.filter((result) => result.failed > 0).map(({ name }) => name);
if (failed.length > 0) console.log(`\nFailed: ${failed.join(", ")}`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
process.exitCode = failed.length > 0 ? 1 : 0;
