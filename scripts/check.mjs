/**
 * What `npm test` and CI run, in order, each step to its end even when an earlier one failed. Tests
 * print a line per file, with how many are done; one that fails is not tried again. The last line adds
 * everything up: N passed, N failed, N skipped.
 *
 *   node scripts/check.mjs [--only STEP]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = mkdtempSync(join(tmpdir(), "agent-trainer-check-"));
const only = process.argv.includes("--only")
  ? process.argv[process.argv.indexOf("--only") + 1]
  : undefined;

/** Steps that end in a count of tests write it to a file; the others count as one test each. */
const steps = [
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "lint", command: ["oxlint", "--deny-warnings"] },
  { name: "types", command: ["tsc", "--noEmit", "-p", "tsconfig.json"] },
  { name: "types of the page", command: ["tsc", "--noEmit", "-p", "src/view/app"] },
  { name: "publint", command: ["publint", "--strict"] },
  { name: "tests", command: ["vitest", "run"], counts: true },
].filter(({ name }) => only === undefined || only === name);

const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
const begun = Date.now();
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const countsFile = join(scratch, "counts.json");
const runCommand = (command) =>
  spawnSync("npx", ["--no-install", ...command], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, TEST_COUNTS_FILE: countsFile },
    shell: process.platform === "win32",
  }).status;
const readCounts = () => JSON.parse(readFileSync(countsFile, "utf8"));

for (const [index, { name, command, counts }] of steps.entries()) {
  const started = Date.now();
  console.log(`\n== ${index + 1}/${steps.length} ${name}: ${command.join(" ")}`);
  const status = runCommand(command);
  const result = { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  if (counts) {
    try {
      Object.assign(result, readCounts());
      // A crash outside of any test must not pass unseen.
      if (status !== 0) result.failed = Math.max(result.failed, 1);
    } catch {
      result.passed = 0;
      result.failed = 1;
    }
  }
  for (const key of Object.keys(total)) total[key] += result[key];
  if (result.failed > 0) failures.push(name);
  console.log(
    `== ${name}: ${result.failed > 0 ? "FAILED" : "ok"} in ${seconds(started)}, ${seconds(begun)} since the start`,
  );
}
rmSync(scratch, { recursive: true });
if (failures.length > 0) console.log(`\nFailed: ${failures.join(", ")}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(failures.length > 0 ? 1 : 0);
