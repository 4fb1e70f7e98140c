/** The function that `curate` calls with every text, from a module. */
import { ConfigError } from "../core/errors.ts";
import type { ScrubHook } from "../production/curate/scrub.ts";
import { loadExport } from "./load-module.ts";

/** @throws ConfigError where the module has no such function. */
export async function loadScrub(spec: string, folder: string, option: string): Promise<ScrubHook> {
  const found = await loadExport({ spec, folder, option, defaults: ["scrub", "default"] });
  if (typeof found === "function") return found as ScrubHook;
  throw new ConfigError({
    message: `${spec} exports no function for ${option}.`,
    hint: "For example: export const scrub = (text) => text.replaceAll(/ACME-\\d+/g, '[order]');",
  });
}
