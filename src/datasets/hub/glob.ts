/** Patterns of files as the card of a dataset has them: `*`, `**`, `?` and `[a-z]`, as in Python's `glob`. */
import { RE2JS } from "re2js";

const lexemes = /\*\*\/|\*\*|\*|\?|\[!?\]?[^\]]*\]|[.+^${}()|[\]\\]/gu;

/** A set of characters; a slash is never one of them. */
function characters(set: string): string {
  const isNot = set.startsWith("!");
  const inner = (isNot ? set.slice(1) : set).replaceAll(/[\\[\]^&~]/gu, "\\$&");
  return isNot ? `[^/${inner}]` : `[${inner}]`;
}

/** How many steps matching takes for each character of a path, at most. */
export const stepsOf = (glob: string): number => 1 + glob.replaceAll(/[^*?[]/gu, "").length;

/** The time for a path is the product of its length and of {@link stepsOf}. */
export function globMatcher(glob: string): (path: string) => boolean {
  if (!/[*?[]/u.test(glob)) return (path) => path === glob;
  const source = glob.replaceAll(lexemes, (mark) => {
    if (mark === "**/") return "(?:.*/)?";
    if (mark === "**") return ".*";
    if (mark === "*") return "[^/]*";
    if (mark === "?") return "[^/]";
    return mark.length > 1 ? characters(mark.slice(1, -1)) : `\\${mark}`;
  });
  try {
    const pattern = RE2JS.compile(source);
    return (path) => pattern.matches(path);
  } catch {
    // A range that runs backwards has no character.
    return () => false;
  }
}
