/**
 * `npm run site [-- --preview]`: the pages of docs/ as a site, in site/dist/, searchable, with an example of
 * a run. VitePress is installed into .cache/site, once. Two variables, for the place where it is published:
 *
 *   SITE_BASE         the path that it is served under, / without it
 *   SITE_REPOSITORY   the address of the repository; without it, files that only the repository has are no links
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { llmsText } from "../scripts/llms-text.ts";
import { readContents } from "../scripts/contents.ts";
import { root } from "../test/docs/pages.ts";
import { readCharts } from "./charts.ts";
import { sitePages, type Target, targetOf } from "./pages.ts";
import { recordRun } from "./recorded-run.ts";

const here = import.meta.dirname;
mkdirSync(join(root, ".cache", "site"), { recursive: true });
// VitePress compares paths of pages, which bundlers give without links.
const cache = realpathSync(join(root, ".cache", "site"));
const stage = join(cache, "stage");
const pagesFolder = join(stage, "pages");
const out = join(here, "dist");
const { SITE_BASE: base = "/", SITE_REPOSITORY: repository = "" } = process.env;

function run(command: string, args: readonly string[], cwd: string): void {
  const shell = process.platform === "win32";
  const { status } = spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2], shell });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed.`);
}

function install(): void {
  const lockfile = readFileSync(join(here, "package-lock.json"), "utf8");
  const stamp = join(cache, "installed.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lockfile) return;
  process.stderr.write("Installing VitePress (once) ...\n");
  for (const name of ["package.json", "package-lock.json"])
    cpSync(join(here, name), join(cache, name));
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], cache);
  writeFileSync(stamp, lockfile);
}

function put(file: string, text: string): void {
  const path = join(stage, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const fileOf = (name: string): string => (name.endsWith("/") ? `${name}index.md` : `${name}.md`);

/** The pages as they are in the repository, and again as `.md` files to fetch. */
function stagePages(): Record<string, Record<string, Target>> {
  const targets: Record<string, Record<string, Target>> = {};
  for (const [path, name] of sitePages) {
    const text = readFileSync(join(root, path), "utf8");
    const file = fileOf(name);
    put(`pages/${file}`, text);
    put(`pages/public/${file}`, text);
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/gu)].map((match) => match[1]!);
    targets[path] = Object.fromEntries(links.map((link) => [link, targetOf(path, link)]));
  }
  return targets;
}

function stageFiles(): void {
  const isPage = (file: string): boolean => file.endsWith(".md");
  cpSync(join(root, "docs"), join(pagesFolder, "public"), {
    recursive: true,
    filter: (file) => !isPage(file),
  });
  cpSync(join(here, "vitepress"), join(stage, ".vitepress"), { recursive: true });
}

function sidebar(): readonly object[] {
  const groups = readContents().map(({ title, entries }) => ({
    text: title,
    items: entries.map((entry) => ({ text: entry.title, link: `/${sitePages.get(entry.path)!}` })),
  }));
  const recordedRun = { text: "A recorded run", link: "/recorded-run" };
  return groups.map((group, i) =>
    i === 0 ? { ...group, items: [...group.items, recordedRun] } : group,
  );
}

const begun = Date.now();
install();
const recorded = recordRun(cache);
rmSync(stage, { recursive: true, force: true });
const targets = stagePages();
stageFiles();
cpSync(recorded.html, join(pagesFolder, "public", "recorded-run-page.html"));
const page = readFileSync(join(here, "recorded-run.md"), "utf8");
put("pages/recorded-run.md", page.replaceAll("RECORDED_PAGE", `${base}recorded-run-page.html`));
put(
  "pages/public/llms.txt",
  llmsText(({ path }) => `${base}${fileOf(sitePages.get(path)!)}`),
);
const charts = readCharts(recorded.folder);
const chartName = (picture: string): string => basename(picture, ".svg");
const site = {
  pages: Object.fromEntries([...sitePages].map(([path, name]) => [fileOf(name), path])),
  sidebar: sidebar(),
  charts: Object.fromEntries(
    Object.keys(charts).map((picture) => [picture.slice("docs".length), chartName(picture)]),
  ),
  targets,
  repository,
  base,
};
put(".vitepress/site.json", JSON.stringify(site));
put(
  ".vitepress/charts.json",
  JSON.stringify(
    Object.fromEntries(Object.entries(charts).map(([key, chart]) => [chartName(key), chart])),
  ),
);
const vitepress = join(cache, "node_modules/vitepress/bin/vitepress.js");
run(process.execPath, [vitepress, "build", stage, "--outDir", out], cache);
process.stderr.write(`Built site/dist in ${((Date.now() - begun) / 1000).toFixed(0)} s.\n`);
if (process.argv.includes("--preview"))
  run(process.execPath, [vitepress, "preview", stage, "--outDir", out], cache);
