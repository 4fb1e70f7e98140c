import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Counts tests: to the file named by TEST_COUNTS_FILE, or as a plain line "N passed, N failed, N skipped". */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that cannot be loaded has no tests to fail.
      if (module.state() === "failed" && module.errors().length > 0) count.failed += 1;
    }
    const { passed, failed, skipped } = count;
    const file = process.env["TEST_COUNTS_FILE"];
    if (file === undefined) console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    else writeFileSync(file, JSON.stringify({ passed, failed, skipped }));
  }
}
