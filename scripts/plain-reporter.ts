/**
 * One line per test file with how many are done and the time since the start, failures in full, and
 * at the end a count: as a line "N passed, N failed, N skipped", or to the file TEST_COUNTS_FILE.
 */
import { writeFileSync } from "node:fs";
import {
  DefaultReporter,
  type SerializedError,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
} from "vitest/node";

/** 75_000 is "1:15". */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export default class PlainReporter extends DefaultReporter {
  #files = 0;
  #done = 0;
  #started = 0;

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#files = specifications.length;
    this.#done = 0;
    this.#started = Date.now();
    super.onTestRunStart(specifications);
  }

  protected override printTestModule(module: TestModule): void {
    this.#done += 1;
    const done = String(this.#done).padStart(String(this.#files).length);
    const progress = `[${done}/${this.#files} ${clock(Date.now() - this.#started)}]`;
    const tests = [...module.children.allTests()].length;
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    const mark = module.ok() ? "ok" : "FAILED";
    this.log(
      `${progress} ${mark} ${module.project.name} ${module.relativeModuleId}: ${tests} tests, ${seconds} s`,
    );
    if (!module.ok()) super.printTestModule(module);
  }

  override onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    errors: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
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
