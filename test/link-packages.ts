/** A `node_modules` with this package and all that it is tested with, as links: nothing is installed. */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** @param packages Folder with the packages. @default those of the repository */
export function linkPackages(project: string, packages: string = join(root, "node_modules")): void {
  const modules = join(project, "node_modules");
  mkdirSync(modules, { recursive: true });
  const names = readdirSync(packages).flatMap((name) => {
    if (name.startsWith(".")) return [];
    if (!name.startsWith("@")) return [name];
    mkdirSync(join(modules, name), { recursive: true });
    return readdirSync(join(packages, name)).map((part) => join(name, part));
  });
  const link = (from: string, name: string): void => {
    if (!existsSync(join(modules, name))) symlinkSync(from, join(modules, name));
  };
  link(root, "agent-trainer");
  for (const name of names) link(join(packages, name), name);
}
