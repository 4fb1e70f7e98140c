import { defineConfig } from "vitest/config";

/** Real training, against the compiled program; one file at a time, since each uses every processor. */
export default defineConfig({
  test: {
    include: ["test/e2e/**/*.test.ts"],
    globalSetup: "./test/temp-folder.ts",
    reporters: [["default", { summary: false }], "./scripts/plain-reporter.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
