/**
 * Runs the tests of the operations with another Node, as that of another platform in an emulator:
 *
 *   [TESTS=PART-OF-A-NAME] node scripts/native/elsewhere.mjs qemu-aarch64 -L /usr/aarch64-linux-gnu PATH/OF/node
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");
// As deep as modules of src/engine/native are, which look for native/ from there.
const folder = join(root, ".cache/native/elsewhere");
const tensors = join(root, "src/engine/tensor");
const files = readdirSync(tensors, { recursive: true }).filter(
  (name) => name.endsWith(".test.ts") && name.includes(process.env.TESTS ?? ""),
);
const imports = files.map((name) => `import ${JSON.stringify(join(tensors, name))};`);
const main = [
  'import { runAll } from "vitest";',
  'import { loadNative } from "./src/engine/native/load-native.ts";',
  ...imports,
  'console.log(process.platform, process.arch, process.version, loadNative().kind, loadNative().instructionSets.map(({ name }) => name).join(" "));',
  "await runAll();",
];

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
await build({
  stdin: { contents: main.join("\n"), resolveDir: root, sourcefile: "tests.ts", loader: "ts" },
  outfile: join(folder, "tests.js"),
  alias: { vitest: join(import.meta.dirname, "elsewhere/vitest-alone.mjs") },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["agent-trainer-source"],
  // Tests are imported for their effects alone.
  ignoreAnnotations: true,
  logLevel: "error",
});
await build({
  entryPoints: [join(root, "src/engine/native/wasm/wasm-thread.ts")],
  outfile: join(folder, "wasm-thread.js"),
  bundle: true,
  platform: "node",
  format: "esm",
});
const [command, ...args] = process.argv.slice(2);
const { status, error } = spawnSync(command, [...args, join(folder, "tests.js")], {
  stdio: "inherit",
});
if (error) throw error;
process.exit(status ?? 1);
