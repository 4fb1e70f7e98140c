/** Loads one export of a user's module, named as `path#export`. Knows nothing of what the export is for. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "../core/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import { missingPackage } from "./report-error.ts";

/** What is loaded, and how to name it in messages. */
export interface ExportRequest {
  /** `path` or `path#export`. */
  readonly spec: string;
  /** Folder that the path is relative to. */
  readonly folder: string;
  /** The option that holds `spec`. */
  readonly option: string;
  /** Exports to take when `spec` names none, in this order. */
  readonly defaults: readonly string[];
}

type ModuleExports = Readonly<Record<string, unknown>>;

/** Splits `path#export`. */
export function splitSpec(spec: string): { path: string; name: string | undefined } {
  const at = spec.lastIndexOf("#");
  if (at === -1) return { path: spec, name: undefined };
  return { path: spec.slice(0, at), name: spec.slice(at + 1) };
}

/** @throws ConfigError when the file, or the export, is not there. */
export async function loadExport(request: ExportRequest): Promise<unknown> {
  const { path, name } = splitSpec(request.spec);
  const file = resolve(request.folder, path);
  if (!existsSync(file)) {
    throw new ConfigError({
      message: `${request.option} names ${file}, which does not exist.`,
      hint: "Paths are relative to the configuration file; write path#export to choose an export.",
      fields: { option: request.option, file },
    });
  }
  const exports = await importFile(file, request.option);
  const wanted = name === undefined || name === "" ? request.defaults : [name];
  const found = wanted.find((candidate) => exports[candidate] !== undefined);
  if (found !== undefined) return exports[found];
  const available = Object.keys(exports).filter((key) => key !== "module.exports");
  const nearest = nearestName(wanted[0] ?? "", available);
  throw new ConfigError({
    message: `${file} exports no ${wanted.map((w) => `"${w}"`).join(" or ")}; it exports ${available.join(", ") || "nothing"}.`,
    hint:
      nearest === undefined
        ? `Set ${request.option} to path#export.`
        : `Did you mean ${request.option}: ${path}#${nearest}?`,
    fields: { option: request.option, file, wanted, available },
  });
}

async function importFile(file: string, option: string): Promise<ModuleExports> {
  const url = pathToFileURL(file).href;
  try {
    return await importAny(url, file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw (
      missingPackage(error) ??
      new ConfigError({
        message: `${option} names ${file}, which cannot be loaded: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
        hint: "Run it again with --verbose to see the stack.",
        cause: error,
        fields: { option, file },
      })
    );
  }
}

async function importAny(url: string, file: string): Promise<ModuleExports> {
  try {
    return (await import(url)) as ModuleExports;
  } catch (error) {
    // Node before 22.18 does not read TypeScript, unless a loader is registered.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_UNKNOWN_FILE_EXTENSION" || !/\.[cm]?ts$/u.test(file)) throw error;
    return await (await loadTsx(file)).tsImport(url, import.meta.url);
  }
}

interface TsxApi {
  tsImport(url: string, parent: string): Promise<ModuleExports>;
}

/** tsx as the user's project has it. */
async function loadTsx(file: string): Promise<TsxApi> {
  for (const from of [file, resolve(process.cwd(), "package.json")]) {
    let manifest: string;
    try {
      manifest = createRequire(from).resolve("tsx/package.json");
    } catch {
      continue;
    }
    // By path: require.resolve would pick the CommonJS build, which cannot register itself.
    const api = resolve(dirname(manifest), "dist/esm/api/index.mjs");
    return (await import(pathToFileURL(api).href)) as TsxApi;
  }
  throw new ConfigError({
    message: `${file} is TypeScript, which Node ${process.versions.node} cannot load by itself.`,
    hint: "Run: npm install --save-dev tsx, or use Node 22.18 or later, or name a compiled .js file.",
    fields: { file },
  });
}
