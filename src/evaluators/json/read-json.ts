/** JSON in what a model wrote: found, bounded, and parsed. */

const maxDepth = 64;
const maxNodes = 20_000;

/** A JSON value, or why there is none. */
export type JsonReading = { readonly value: unknown } | { readonly reason: string };

/** The text itself, or what its last fenced block holds. */
export function jsonText(text: string): string {
  const close = text.lastIndexOf("```");
  const open = close > 0 ? text.lastIndexOf("```", close - 1) : -1;
  if (open === -1) return text.trim();
  const body = text.slice(open + 3, close);
  return body.slice(/^[A-Za-z\d]*[ \t]*\r?\n?/u.exec(body)![0].length).trim();
}

/** Parses JSON of at most 64 levels and 20,000 values. */
export function readJson(text: string): JsonReading {
  let depth = 0;
  let nodes = 1;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (char === "," || char === ":") nodes++;
    if (depth > maxDepth) return { reason: `the JSON has more than ${maxDepth} levels` };
    if (nodes > maxNodes) return { reason: `the JSON has more than ${maxNodes} values` };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { reason: "the text is not JSON" };
  }
}

/** Whether two JSON values are equal; the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || (a === 0 && b === 0)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}

/** The value at a path such as `user.tags.0`; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
