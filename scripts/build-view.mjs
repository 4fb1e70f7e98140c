/**
 * Bundles the viewer's page, `src/view/app/`, for browsers. Plain JavaScript, since setup.mjs uses it
 * before anything is compiled.
 *
 *   node scripts/build-view.mjs [OUT]
 */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const app = join(root, "src", "view", "app");
const diffLicence = readFileSync(join(root, "node_modules", "diff", "LICENSE"), "utf8").replaceAll(
  "*/",
  "* /",
);
const out = resolve(process.argv[2] ?? join(root, "dist", "view", "assets"));

mkdirSync(out, { recursive: true });
await build({
  entryPoints: { app: join(app, "main.tsx") },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  // The libraries are under the MIT licence and the BSD licence, which ask for this.
  banner: {
    js: `/* With Preact, (c) 2015-present Jason Miller, and uPlot, (c) 2022 Leon Sorokin; MIT License. With jsdiff:\n${diffLicence} */`,
  },
  logLevel: "warning",
});
copyFileSync(join(app, "index.html"), join(out, "index.html"));
// What the exported file shares with the page.
for (const name of ["tokens.css", "base.css", "conversation.css"])
  copyFileSync(join(app, "style", name), join(out, name));
