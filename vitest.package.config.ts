import { defineConfig } from "vitest/config";

/** The packed tarball, installed into an empty folder. */
export default defineConfig({
  test: {
    include: ["test/package/**/*.test.ts"],
    globalSetup: "./test/temp-folder.ts",
    reporters: [["default", { summary: false }], "./scripts/plain-reporter.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
