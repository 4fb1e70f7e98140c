/** Packages of npm that only integration tests use, in a folder apart from the project's. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./root.ts";
import { runCommand } from "./run-command.ts";

/**
 * Installs them once, in `.cache/integration/NAME`.
 * @returns imports a module by its specifier, as a program in that folder would
 */
export function npmPackages(
  name: string,
  packages: readonly string[],
): (specifier: string) => Promise<unknown> {
  const folder = join(root, ".cache", "integration", name);
  const installed = join(folder, "installed.json");
  if (!existsSync(installed)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private": true}');
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    runCommand("npm", ["install", ...flags, ...packages], { cwd: folder });
    writeFileSync(installed, JSON.stringify(packages));
  }
  // Resolved as ESM, so that packages without CommonJS are found, too.
  const entry = join(folder, "entry.mjs");
  writeFileSync(entry, "export const load = (specifier) => import(specifier);\n");
  return async (specifier) => {
    const { load } = (await import(pathToFileURL(entry).href)) as {
      load: (specifier: string) => Promise<unknown>;
    };
    return await load(specifier);
  };
}
