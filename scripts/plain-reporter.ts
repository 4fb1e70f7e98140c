import type { Reporter, TestModule } from "vitest/node";
/** Prints the plain closing line that CI reads: "N passed, N failed, N skipped". */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules)
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}
