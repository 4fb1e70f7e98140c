/**
 * Runs unit tests with another Node, as that of another platform in an emulator: those of the operations, or those
 * of the files and folders in TESTS.
 *
 *   [TESTS="src/util/files src/runs"] node scripts/native/elsewhere.mjs qemu-aarch64 -L /usr/aarch64-linux-gnu PATH/OF/node
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");
// As deep as modules of src/engine/native are, which look for native/ from there.
const folder = join(root, ".cache/native/elsewhere");
const places = (process.env.TESTS ?? "src/engine/tensor").split(" ");
const files = places.flatMap((place) =>
  statSync(join(root, place)).isFile()
    ? [place]
    : readdirSync(join(root, place), { recursive: true })
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => join(place, name)),
);
const imports = files.map(
  (name) => `await inFile("${name}", () => import(${JSON.stringify(join(root, name))}));`,
);
const main = [
  'import { inFile, runAll } from "vitest";',
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
  // Packages in CommonJS ask for it.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
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
