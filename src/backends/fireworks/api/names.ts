/** Names of snapshots, checkpoints and models, as Fireworks requires them. */
import { randomBytes } from "node:crypto";
import { ConfigError } from "../../../core/errors.ts";

/** Of a DNS label. */
const label = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/u;
const maxLength = 63;

/** Eight hexadecimal digits, which make a name unique. */
export const nameSuffix = (): string => randomBytes(4).toString("hex");

/** @throws ConfigError for a name that is no DNS label. */
export function checkName(name: string, what: string): void {
  if (label.test(name) && name.length <= maxLength) return;
  throw new ConfigError({
    message: `${what} "${name}" is no name that Fireworks accepts.`,
    hint: `Use at most ${maxLength} lower-case letters, digits and hyphens, with a letter first and no hyphen last.`,
    fields: { name },
  });
}
