/** `scripts/check.mjs`, with a program in place of npx that ends as test runs do. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../docs/pages.ts";

interface Run {
  readonly counts?: object;
  readonly status: number;
}

/** Runs the step of tests; `runs` are what the first, second, ... test run would do. */
function check(runs: readonly Run[]): { readonly status: number | null; readonly last: string } {
  const folder = mkdtempSync(join(tmpdir(), "check-"));
  const script = runs.map(({ counts, status }, i) => {
    const write =
      counts === undefined ? "" : `echo '${JSON.stringify(counts)}' > "$TEST_COUNTS_FILE";`;
    return `if [ ! -e ${folder}/${i} ]; then touch ${folder}/${i}; ${write} exit ${status}; fi`;
  });
  writeFileSync(join(folder, "npx"), `#!/bin/sh\n${script.join("\n")}\n`);
  chmodSync(join(folder, "npx"), 0o755);
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, "scripts", "check.mjs"), "--only", "tests"],
    {
      env: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` },
      encoding: "utf8",
    },
  );
  return { status, last: stdout.trimEnd().split("\n").at(-1) ?? "" };
}

const isWindows = process.platform === "win32";

it.skipIf(isWindows)("counts what passed", () => {
  const counts = { passed: 7, failed: 0, skipped: 2 };
  expect(check([{ counts, status: 0 }])).toEqual({
    status: 0,
    last: "7 passed, 0 failed, 2 skipped",
  });
});

it.skipIf(isWindows)("does not try a failed file again", () => {
  const first = { passed: 6, failed: 1, skipped: 0, failedFiles: ["test/flaky.test.ts"] };
  const second = { passed: 1, failed: 0, skipped: 0, failedFiles: [] };
  const runs = [
    { counts: first, status: 1 },
    { counts: second, status: 0 },
  ];
  expect(check(runs)).toEqual({ status: 1, last: "6 passed, 1 failed, 0 skipped" });
});

it.skipIf(isWindows)("fails where the run crashed, beside tests that passed or before any", () => {
  const counts = { passed: 7, failed: 0, skipped: 0 };
  expect(check([{ counts, status: 1 }])).toEqual({
    status: 1,
    last: "7 passed, 1 failed, 0 skipped",
  });
  expect(check([{ status: 134 }])).toEqual({ status: 1, last: "0 passed, 1 failed, 0 skipped" });
});
