/**
 * Loads the user's TypeScript modules: with tsx if it is installed, on every version of Node, so that a
 * project behaves the same everywhere; with Node itself only if tsx is not installed.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "../core/errors.ts";

type ModuleExports = Readonly<Record<string, unknown>>;
interface TsxApi {
  register(): unknown;
}

export const isTypeScript = (file: string): boolean => /\.[cm]?tsx?$/u.test(file);

/** A process that runs these sources, not their compiled form, already has a loader. */
const hasLoader = import.meta.url.endsWith(".ts");
let isRegistered = false;

export async function importTypeScript(url: string, file: string): Promise<ModuleExports> {
  if (hasLoader) return (await import(url)) as ModuleExports;
  const tsx = findTsx(file);
  // tsx treats a "?" in a folder name as the start of a query.
  const isForTsx = !file.includes("?");
  if (tsx !== null && isForTsx) {
    await register(tsx, file);
    return (await import(url)) as ModuleExports;
  }
  try {
    return (await import(url)) as ModuleExports;
  } catch (error) {
    throw withoutTsx(file, error);
  }
}

/** For JavaScript that imports TypeScript, which old versions of Node cannot load. */
export async function importJavaScript(url: string, file: string): Promise<ModuleExports> {
  try {
    return (await import(url)) as ModuleExports;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_UNKNOWN_FILE_EXTENSION" || !/"\.[cm]?tsx?"/u.test(message)) throw error;
    throw new ConfigError({
      message: `${file} imports TypeScript, which Node ${process.versions.node} cannot load.`,
      hint: "Convert this file to TypeScript and install tsx (npm install --save-dev tsx), or import a compiled .js file.",
      cause: error,
      fields: { file },
    });
  }
}

/** The folder of tsx: in the user's project, in the current folder, or in this package. */
function findTsx(file: string): string | null {
  for (const from of [file, resolve(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return dirname(createRequire(from).resolve("tsx/package.json"));
    } catch {
      // Not found; try the next place.
    }
  }
  return null;
}

/**
 * Registers tsx once for all modules: agent, evaluator and data may share a module, which must be loaded
 * only once. For both module systems, since a package without "type": "module" is CommonJS.
 */
async function register(tsx: string, file: string): Promise<void> {
  if (isRegistered) return;
  isRegistered = true;
  const { env } = process;
  const before = env["TSX_TSCONFIG_PATH"];
  const tsconfig = before ?? nearestTsconfig(file);
  try {
    // tsx would look only in the current folder.
    if (tsconfig !== undefined) env["TSX_TSCONFIG_PATH"] = tsconfig;
    for (const system of ["cjs", "esm"]) {
      // By path: resolving it by name would pick the CommonJS build, which cannot register itself.
      const api = pathToFileURL(join(tsx, "dist", system, "api/index.mjs")).href;
      ((await import(api)) as TsxApi).register();
    }
  } finally {
    if (before === undefined) delete env["TSX_TSCONFIG_PATH"];
  }
}

function nearestTsconfig(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const path = join(folder, "tsconfig.json");
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}

function withoutTsx(file: string, error: unknown): unknown {
  const { code, name, message } = error as NodeJS.ErrnoException;
  const reason =
    code === "ERR_UNKNOWN_FILE_EXTENSION"
      ? `${file} is TypeScript, which Node ${process.versions.node} cannot load.`
      : `${file} is TypeScript, which Node ${process.versions.node} supports only in part: ${name}: ${message}`;
  // If its packages are missing, or if it throws, tsx would not help.
  const isOfNode = typeof code === "string" && !/^ERR_MODULE_NOT_FOUND$|^E[A-Z]+$/u.test(code);
  const isPath = code === "ERR_MODULE_NOT_FOUND" && /Cannot find module/u.test(message);
  if (!isOfNode && !isPath && !(error instanceof SyntaxError)) return error;
  return new ConfigError({
    message: reason,
    hint: file.includes("?")
      ? 'Rename the folder so that its path has no "?": tsx cannot load files from such a path.'
      : "Run: npm install --save-dev tsx. Or use a compiled .js file.",
    cause: error,
    fields: { file },
  });
}
