/** Programs of the tests in few files: they start in a fraction of the time that their sources need. */
import { mkdtempSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** Modules look for files of the package next to their source, as compiled ones do in dist/. */
const atSource: Plugin = {
  name: "at-source",
  setup({ onLoad }) {
    // Commands are imported by name from a folder that has their tests, too.
    onLoad({ filter: /\.test\.ts$/ }, () => ({ contents: "" }));
    onLoad({ filter: /\/(?:src|test)\/.*\.ts$/ }, async ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path.replace(/ts$/u, "js")).href);
      const contents = await readFile(path, "utf8");
      return { contents: contents.replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
};

/** Threads of what is bundled are bundled, too. */
const bundledThreads: Plugin = {
  name: "bundled-threads",
  setup({ onResolve }) {
    const path = join(import.meta.dirname, "bundled-thread.ts");
    onResolve({ filter: /\/util\/start-thread\.ts$/ }, () => ({ path }));
  },
};

const banner =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

export const newBundleFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-bundle-"));

/** TypeScript files by name, as `NAME.mjs` in the folder. What they share is one module, as in the sources. */
export async function bundlePrograms(
  programs: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  await build({
    entryPoints: { ...programs },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["agent-trainer-source"],
    logLevel: "error",
    banner: { js: banner },
    external: ["libsql"],
    plugins: [atSource, bundledThreads],
  });
}

/** The path of the bundle of one TypeScript file. */
export async function bundleProgram(entry: string): Promise<string> {
  const folder = newBundleFolder();
  await bundlePrograms({ program: entry }, folder);
  return join(folder, "program.mjs");
}
