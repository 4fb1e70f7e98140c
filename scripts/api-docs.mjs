/**
 * Writes the API reference, `docs/api/`, one page per entry of the package, from the TSDoc of its sources.
 *
 *   npm run docs:api
 *
 * TypeDoc reads programs with the TypeScript library of version 5, which this repository does not use
 * otherwise, so both are installed in `.cache/api-docs`, once.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pinned, so that everybody writes the same pages. */
const packages = ["typedoc@0.28.20", "typedoc-plugin-markdown@4.14.1", "typescript@5.9.3"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tools = join(root, ".cache", "api-docs");
const out = join(root, "docs", "api");
const stamp = join(tools, "installed.txt");
const wanted = `${packages.join("\n")}\n`;

function run(command, args) {
  const { status } = spawnSync(command, args, {
    cwd: tools,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  process.stderr.write(`\n"${command} ${args.join(" ")}" failed.\n`);
  process.exit(1);
}

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  process.stderr.write("Installing TypeDoc (once) ...\n");
  rmSync(tools, { recursive: true, force: true });
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, "package.json"), '{ "private": true }\n');
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages]);
  writeFileSync(stamp, wanted);
}

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = Object.entries(exports).flatMap(([path, { "agent-trainer-source": source }]) =>
  source === undefined ? [] : [{ name: path === "." ? "agent-trainer" : path.slice(2), source }],
);
const table = Object.fromEntries(
  [
    "indexFormat",
    "parametersFormat",
    "interfacePropertiesFormat",
    "classPropertiesFormat",
    "typeDeclarationFormat",
    "typeAliasPropertiesFormat",
    "propertyMembersFormat",
    "enumMembersFormat",
  ].map((option) => [option, "table"]),
);
const options = {
  entryPoints: entries.map(({ source }) => join(root, source)),
  tsconfig: join(root, "tsconfig.json"),
  plugin: ["typedoc-plugin-markdown"],
  router: "module",
  out,
  name: "API reference",
  readme: "none",
  // `npm run types` checks them, with another TypeScript.
  skipErrorChecking: true,
  validation: { notExported: false },
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  disableGit: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: true,
  useCodeBlocks: true,
  expandObjects: false,
  ...table,
};
const config = join(tools, "typedoc.json");
writeFileSync(config, JSON.stringify(options, null, 2));
rmSync(out, { recursive: true, force: true });
run(process.execPath, [join(tools, "node_modules/typedoc/bin/typedoc"), "--options", config]);

/** Their members are options, which `docs/configuration.md` lists with more about each. */
const listedElsewhere = ["AlgorithmOptions", "TrainConfig", "TrainOptions"];
const page = join(out, "agent-trainer.md");
const sections = readFileSync(page, "utf8").split(/^(?=## )/mu);
const shortened = sections.map((section) => {
  if (!listedElsewhere.some((name) => section.startsWith(`## ${name}\n`))) return section;
  const [head] = section.split(/^### (?:Properties|Indexable)/mu);
  return `${head}All options, with their defaults: [configuration](../configuration.md).\n\n***\n\n`;
});
writeFileSync(page, withAnchors(shortened.join("")));

/** TypeDoc numbers some anchors although their heading is the only one of its name. */
function withAnchors(text) {
  const anchors = [...text.matchAll(/^#+ (.*)$/gmu)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/gu, "")
      .replaceAll(" ", "-"),
  );
  const isOnly = (anchor) => anchors.filter((one) => one === anchor).length === 1;
  return text.replaceAll(/\(#([a-z]+)-\d+\)/gu, (link, anchor) =>
    isOnly(anchor) ? `(#${anchor})` : link,
  );
}
process.stderr.write(`${readdirSync(out).join("\n")}\n`);
