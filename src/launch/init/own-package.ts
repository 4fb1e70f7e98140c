/** What this package says of itself: the versions that it is tested with, and where it was installed from. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the installed package, or of the repository. */
export const packageRoot: string = fileURLToPath(new URL("../../../", import.meta.url));

/** The part of a package.json that is read here. */
export interface Manifest {
  readonly version?: string;
  readonly type?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The range of a package that the tests of this package use. */
export function testedVersion(name: string): string {
  const { dependencies, devDependencies } = readManifest(packageRoot);
  return devDependencies?.[name] ?? dependencies?.[name] ?? "latest";
}

/**
 * How a package.json in `folder` names this package: the version on the registry, or the tarball or
 * clone that the running one came from.
 */
export function ownSpec(folder: string, root: string = packageRoot): string {
  const modules = dirname(resolve(root));
  const range = `^${readManifest(root).version ?? "0.0.0"}`;
  if (basename(modules) !== "node_modules") return fileSpec(folder, root);
  const lock = join(modules, ".package-lock.json");
  if (!existsSync(lock)) return range;
  const { packages } = JSON.parse(readFileSync(lock, "utf8")) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  const resolved = packages?.[`node_modules/${basename(resolve(root))}`]?.resolved ?? "";
  if (!resolved.startsWith("file:")) return range;
  return fileSpec(folder, resolve(dirname(modules), resolved.slice("file:".length)));
}

function fileSpec(folder: string, target: string): string {
  return `file:${relative(resolve(folder), resolve(target)).split(sep).join("/")}`;
}
