/** That a file which an option names exists. */
import { existsSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";

/** @throws ConfigError that names the option. */
export function requireFile(
  file: string,
  option: string,
  hint = "Paths are relative to the configuration file.",
): void {
  if (existsSync(file)) return;
  throw new ConfigError({
    message: `${option} names ${file}, which does not exist.`,
    hint,
    fields: { option, file },
  });
}
