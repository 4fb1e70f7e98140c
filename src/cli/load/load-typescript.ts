/**
 * Loads TypeScript modules of the user: by tsx where it is installed, on every version of Node, so that a
 * project behaves the same everywhere; by Node itself only where there is no tsx.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "../../core/errors.ts";

type ModuleExports = Readonly<Record<string, unknown>>;
interface TsxApi {
  register(): unknown;
}

export const isTypeScript = (file: string): boolean => /\.[cm]?tsx?$/u.test(file);

/** Whoever runs these sources, and not what was compiled of them, has a loader already. */
const hasLoader = import.meta.url.endsWith(".ts");
let isRegistered = false;

export async function importTypeScript(url: string, file: string): Promise<ModuleExports> {
  if (hasLoader) return (await import(url)) as ModuleExports;
  const tsx = findTsx(file);
  // tsx takes a "?" in the name of a folder for the beginning of a query.
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

/** For JavaScript that imports TypeScript, which old versions of Node do not read. */
export async function importJavaScript(url: string, file: string): Promise<ModuleExports> {
  try {
    return (await import(url)) as ModuleExports;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_UNKNOWN_FILE_EXTENSION" || !/"\.[cm]?tsx?"/u.test(message)) throw error;
    throw new ConfigError({
      message: `${file} imports TypeScript, which Node ${process.versions.node} does not read.`,
      hint: "Make this file TypeScript, too, and install tsx (npm install --save-dev tsx), or import a compiled .js file.",
      cause: error,
      fields: { file },
    });
  }
}

/** The folder of tsx: that of the user's project, of where the command was given, or of ours. */
function findTsx(file: string): string | null {
  for (const from of [file, resolve(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return dirname(createRequire(from).resolve("tsx/package.json"));
    } catch {
      // Not there; the next place may have it.
    }
  }
  return null;
}

/**
 * Once and for all modules: agent, evaluator and data may share a module, which must be one. Both
 * systems, since a package without "type": "module" is CommonJS.
 */
async function register(tsx: string, file: string): Promise<void> {
  if (isRegistered) return;
  isRegistered = true;
  const { env } = process;
  const before = env["TSX_TSCONFIG_PATH"];
  const tsconfig = before ?? nearestTsconfig(file);
  try {
    // It would look in the current folder only.
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
      ? `${file} is TypeScript, which Node ${process.versions.node} does not read.`
      : `${file} is TypeScript, of which Node ${process.versions.node} reads only a part: ${name}: ${message}`;
  // Its own packages may be missing, or it may throw: tsx would change nothing.
  const isOfNode = typeof code === "string" && !/^ERR_MODULE_NOT_FOUND$|^E[A-Z]+$/u.test(code);
  const isPath = code === "ERR_MODULE_NOT_FOUND" && /Cannot find module/u.test(message);
  if (!isOfNode && !isPath && !(error instanceof SyntaxError)) return error;
  return new ConfigError({
    message: reason,
    hint: file.includes("?")
      ? 'Rename the folder, so that there is no "?" in its path: tsx cannot load from there.'
      : "Run: npm install --save-dev tsx, or name a compiled .js file.",
    cause: error,
    fields: { file },
  });
}
