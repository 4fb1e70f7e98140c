/** Exports and downloads never overwrite. */
import { existsSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";

/** @throws ConfigError when `path` exists. */
export function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new ConfigError({
    message: `${path} already exists; refusing to overwrite it.`,
    hint: "Give another name, or remove it first.",
    fields: { path },
  });
}
