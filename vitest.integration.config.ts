import { defineConfig } from "vitest/config";

/** Real servers and SDKs in Python, installed once into `.cache/`; not part of `npm test`. */
export default defineConfig({
  ssr: { resolve: { conditions: ["agent-trainer-source"] } },
  test: {
    include: ["test/integration/**/*.test.ts"],
    reporters: [["default", { summary: false }], "./scripts/plain-reporter.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    // Installing and starting a server takes minutes the first time.
    hookTimeout: 1_800_000,
  },
});
