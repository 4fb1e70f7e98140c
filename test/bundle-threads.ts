/** Bundles what sources start as threads, before the tests: without it each start would compile its sources again. */
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundlePrograms, newBundleFolder } from "./bundle-program.ts";

const threads = [
  "backends/local/worker",
  "engine/native/wasm/wasm-thread",
  "gateway/targets/workers/requests/thread",
  "grammar/thread/schema-worker",
  "models/tokenizers/tokenizer-worker",
  "runs/record-thread",
];
const root = join(import.meta.dirname, "..");

export async function setup(project: TestProject): Promise<void> {
  const folder = newBundleFolder();
  const entries = threads.map((name) => [name, join(root, "src", `${name}.ts`)] as const);
  const bundle = (): Promise<void> => bundlePrograms(Object.fromEntries(entries), folder);
  // Workers are started later and inherit it, as do the programs that they start.
  process.env["TEST_THREADS"] = folder;
  await bundle();
  project.onTestsRerun(bundle);
}
