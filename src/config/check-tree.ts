/**
 * What a file or an override may hold before anybody walks it: a tree that ends. YAML can write one that
 * holds itself, and one of a few lines that is millions of values long.
 */
import { ConfigError } from "../core/errors.ts";

const deepest = 64;
const mostValues = 100_000;

/** What setting it would change is not an option but every object of the program. */
const forbidden = "__proto__";

function refuse(at: string, what: string, hint: string): never {
  throw new ConfigError({ message: `${at} ${what}.`, hint, fields: { at } });
}

/** Of a dotted key. @throws ConfigError */
export function checkKeyParts(key: string, at: string): void {
  if (key.split(/[./]/u).includes(forbidden))
    refuse(
      at,
      `uses ${forbidden} as the name of an option`,
      "Leave it out: no option has this name.",
    );
}

/**
 * @param at what holds `value`, for messages
 * @throws ConfigError for a value that holds itself, is too deep or too large, or has forbidden keys.
 */
export function checkTree(value: unknown, at: string): void {
  const path = new Set<object>();
  let values = 0;
  const visit = (item: unknown): void => {
    values += 1;
    if (values > mostValues)
      refuse(at, `holds more than ${mostValues} values`, "Its aliases (*name) repeat large parts.");
    if (typeof item !== "object" || item === null) return;
    if (path.has(item))
      refuse(
        at,
        "holds a part that holds itself",
        "An alias (*name) stands inside of its own anchor.",
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
