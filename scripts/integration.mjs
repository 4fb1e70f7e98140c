/** `npm run test:integration [-- --only FOLDER] [paths]`: the tests that need other programs, or those of one folder. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";

const folder = join(import.meta.dirname, "../test/integration");
const { values, positionals } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [] } },
  allowPositionals: true,
});
const unknown = values.only.find((name) => !existsSync(join(folder, name)));
if (unknown !== undefined) {
  const names = readdirSync(folder, { withFileTypes: true });
  const known = names.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  console.error(`There are no integration tests "${unknown}"; there are ${known.join(", ")}.`);
  process.exit(2);
}
const paths = [...values.only.map((name) => `test/integration/${name}/`), ...positionals];
const vitest = join(createRequire(import.meta.url).resolve("vitest/package.json"), "../vitest.mjs");
const args = [vitest, "run", "--project", "integration", ...paths];
const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
process.exit(status ?? 1);
