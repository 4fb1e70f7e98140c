/** Loads one export of a user's module, named as `path#export`. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "../core/errors.ts";
import { requireFile } from "../datasets/files/require-file.ts";
import { nearestName } from "../util/nearest-name.ts";
import { importJavaScript, importTypeScript, isTypeScript } from "./load-typescript.ts";
import { missingPackage } from "./missing-package.ts";

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

/** Splits `path#export`; a file in a folder with "#" in its name is that file. */
export function splitSpec(
  spec: string,
  folder: string,
): { path: string; name: string | undefined } {
  const at = spec.lastIndexOf("#");
  if (at === -1 || existsSync(resolve(folder, spec))) return { path: spec, name: undefined };
  return { path: spec.slice(0, at), name: spec.slice(at + 1) };
}

/** @throws ConfigError when the file of a module does not exist. */
export function requireModule(file: string, option: string): void {
  const hint =
    "Paths are relative to the configuration file; write path#export to choose an export.";
  requireFile(file, option, hint);
}

/** @throws ConfigError when the file or the export does not exist. */
export async function loadExport(request: ExportRequest): Promise<unknown> {
  const { path, name } = splitSpec(request.spec, request.folder);
  const file = resolve(request.folder, path);
  requireModule(file, request.option);
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
    const load = isTypeScript(file) ? importTypeScript : importJavaScript;
    return unwrap(await load(url, file));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw (
      missingPackage(error) ??
      new ConfigError({
        message: `${option} names ${file}, which cannot be loaded: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
        hint:
          (error as NodeJS.ErrnoException).code === "ERR_UNKNOWN_FILE_EXTENSION"
            ? "Name a module: .js, .mjs, .cjs, .ts, .mts or .cts."
            : "Run the command again with --verbose to see the stack trace.",
        cause: error,
        fields: { option, file },
      })
    );
  }
}

/** If Node did not detect the named exports of a CommonJS module, they are in its default export. */
function unwrap(exports: ModuleExports): ModuleExports {
  const inner = exports["default"];
  if (typeof inner !== "object" || inner === null || !("__esModule" in inner)) return exports;
  return { ...exports, ...(inner as ModuleExports) };
}
