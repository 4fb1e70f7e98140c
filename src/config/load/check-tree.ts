/**
 * Checks that a file or an override is a finite tree of moderate size before anything walks it. YAML can
 * express a tree that contains itself, and one of a few lines with millions of values.
 */
import { ConfigError } from "../../core/errors.ts";

const deepest = 64;
const maxValues = 100_000;

/** Setting it would change the prototype of every object of the program. */
const forbidden = "__proto__";

function refuse(at: string, what: string, hint: string): never {
  throw new ConfigError({ message: `${at} ${what}.`, hint, fields: { at } });
}

/** Checks the parts of a dotted key. @throws ConfigError */
export function checkKeyParts(key: string, at: string): void {
  if (key.split(/[./]/u).includes(forbidden))
    refuse(at, `uses ${forbidden} as the name of an option`, "Remove it: no option has this name.");
}

/**
 * @param at where `value` is, for messages
 * @throws ConfigError for a value that contains itself, is too deep or too large, or has forbidden keys.
 */
export function checkTree(value: unknown, at: string): void {
  const path = new Set<object>();
  let values = 0;
  const visit = (item: unknown): void => {
    values += 1;
    if (values > maxValues)
      refuse(
        at,
        `contains more than ${maxValues} values`,
        "Look for aliases (*name) that repeat large parts.",
      );
    if (typeof item !== "object" || item === null) return;
    if (path.has(item))
      refuse(
        at,
        "contains a part that contains itself",
        "Look for an alias (*name) inside the anchor that it names (&name).",
      );
    if (path.size === deepest)
      refuse(at, `is nested more than ${deepest} levels deep`, "No option is that deep.");
    path.add(item);
    if (Array.isArray(item)) for (const inner of item as unknown[]) visit(inner);
    else
      for (const [key, inner] of Object.entries(item)) {
        checkKeyParts(key, at);
        visit(inner);
      }
    path.delete(item);
  };
  visit(value);
}
